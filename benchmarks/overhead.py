"""What the mode itself costs: a small model's forward with it and without it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from benchmarks.contender import Local
from benchmarks.gradients import FROZEN, LIBRA
from benchmarks.rounds import Times, interleave
from benchmarks.workload import Workload, image_transformer

SMALL = ("vit_tiny_patch16_224", "test_vit")


@dataclass(frozen=True)
class Overhead:
    """One model's forward under the mode, as a share of the forward without it."""

    title: str
    grad: bool
    forward_seconds: float
    times: Times

    @property
    def share(self) -> float:
        """Give the time added, as a share of the plain forward."""
        multiple = self.times.median
        assert multiple is not None
        return multiple - 1


def measure(rounds: int) -> list[Overhead]:
    """Measure batches of one, without gradients and with the graph of a frozen model."""
    workloads = [image_transformer("overhead", name, batch=1) for name in SMALL]
    return [_measure(workload, grad, rounds) for workload in workloads for grad in (False, True)]


def _measure(workload: Workload, grad: bool, rounds: int) -> Overhead:
    plain = _forward(workload, FROZEN.context, grad)
    balanced = _forward(workload, LIBRA.context, grad)
    seconds, (times,) = interleave(plain, [balanced], rounds)
    return Overhead(workload.title, grad, seconds, times)


def _forward(
    workload: Workload,
    context: Callable[[nn.Module], AbstractContextManager[object]],
    grad: bool,
) -> Local:
    x = workload.leaf()

    def call() -> Tensor:
        with torch.set_grad_enabled(grad), context(workload.model):
            logits: Tensor = workload.model(x)
        return logits

    return Local("forward", workload, call)
