"""lxt's efficient form. It patches classes for good, so it lives in a process of its own.

The process is called in lockstep, one contender at a time, so its times stand beside the others'.
"""

import multiprocessing
import warnings
from dataclasses import dataclass, replace
from importlib.util import find_spec
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import torch
from torch import nn

from benchmarks.contender import Contender, Local, Unavailable
from benchmarks.gradients import Gradient, frozen
from benchmarks.workload import BUILD, Workload

_WIDTHS = {"vit-t": 192, "vit-b": 768}
_BESIDE_TRANSFORMERS_5 = "beside transformers 5 only with two small repairs, made here"


@dataclass(frozen=True)
class Lockstep:
    """A contender in another process: each question is a message, each answer too."""

    name: str
    note: str
    process: BaseProcess
    connection: Connection
    most_rounds: int | None = None

    def _ask(self, question: str, *arguments: int) -> float:
        self.connection.send((question, arguments))
        answer = self.connection.recv()
        if isinstance(answer, str):
            raise Unavailable(answer)
        return float(answer)

    def seconds(self, repeats: int) -> float:
        """Time one call over there, as the mean over `repeats`."""
        return self._ask("seconds", repeats)

    def saved(self) -> int:
        """Count the bytes that one call saves over there."""
        return int(self._ask("saved"))

    def finite(self) -> bool:
        """Whether every number of one call's result is finite."""
        return bool(self._ask("finite"))

    def close(self) -> None:
        """End the process."""
        if self.process.is_alive():
            self.connection.send(("close", ()))
            self.process.join()


def efficient(name: str, workload: Workload) -> Contender:
    """Start the process; fail with its own words if it cannot be made ready."""
    if find_spec("lxt") is None:
        raise Unavailable("not installed (lxt)")
    if workload.tokens > 4096:
        raise Unavailable("left out at this length")
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    arguments = (there, workload.key, torch.get_num_threads())
    process = context.Process(target=_serve, args=arguments, daemon=True)
    process.start()
    there.close()
    try:
        ready = here.recv()
    except EOFError:
        ready = "its process ended"
    if ready != "ready":
        raise Unavailable(str(ready))
    model = "torchvision's ViT of the same size, " if workload.is_image else ""
    note = f"{model}frozen weights, process of its own; {_BESIDE_TRANSFORMERS_5}"
    return Lockstep(name, note, process, here)


def _serve(connection: Connection, key: str, threads: int) -> None:
    torch.set_num_threads(threads)
    try:
        contender = _contender(key)
        contender.call()
    except Exception as error:  # the reason belongs in the table, whatever it is
        connection.send(f"{type(error).__name__}: {error}".splitlines()[0])
        return
    connection.send("ready")
    while True:
        question, arguments = connection.recv()
        if question == "close":
            return
        try:
            connection.send(getattr(contender, question)(*arguments))
        except Exception as error:
            connection.send(f"{type(error).__name__}: {error}".splitlines()[0])


def _contender(key: str) -> Local:
    warnings.simplefilter("ignore")
    from libragrad.models.torchvision_cpu import declare_missing_operators

    declare_missing_operators()
    _patch()
    workload = BUILD[key]()
    if workload.is_image:
        workload = replace(workload, model=_torchvision_twin(_WIDTHS[key]))
    return Gradient("lxt", frozen).contender(workload)


def _torchvision_twin(width: int) -> nn.Module:
    """Build the same transformer in the one image model that lxt patches."""
    from torchvision.models.vision_transformer import VisionTransformer

    model: nn.Module = VisionTransformer(224, 16, 12, width // 64, width, 4 * width).eval()
    nn.init.trunc_normal_(model.get_parameter("heads.head.weight"), std=0.02)  # zero at first
    return model


def _patch() -> None:
    """Patch torchvision's and transformers' classes, with what lxt misses in transformers 5."""
    from transformers import AttentionInterface, pytorch_utils
    from transformers.models.llama import modeling_llama

    if not hasattr(pytorch_utils, "find_pruneable_heads_and_indices"):
        # Imported by lxt's BERT, which is not run here.
        pytorch_utils.find_pruneable_heads_and_indices = None
    from lxt.efficient import monkey_patch
    from torchvision.models import vision_transformer

    monkey_patch(vision_transformer)
    monkey_patch(modeling_llama)
    patched = modeling_llama.ALL_ATTENTION_FUNCTIONS
    if isinstance(patched, dict):
        # lxt leaves a dict where transformers asks the object for get_interface.
        interface = AttentionInterface()
        for kind, function in patched.items():
            interface[kind] = function
        modeling_llama.ALL_ATTENTION_FUNCTIONS = interface
