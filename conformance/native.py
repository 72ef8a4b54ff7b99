"""The model on its own: does it run, which outputs listen to the input, and in which precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from conformance.case import Inputs
from conformance.outputs import Outputs, dependent, differing, flatten


class Unusable(Exception):
    """The model itself gives nothing to explain: it does not run, or its output is not finite."""


@dataclass
class Native:
    """What the plain forward returned, and the paths of the outputs that depend on the input."""

    outputs: Outputs
    paths: list[str]


def cast(inputs: Inputs, dtype: torch.dtype) -> Inputs:
    """Return `inputs` with every floating tensor in `dtype`, a leaf that requires a gradient."""

    def leaf(x: Any) -> Any:
        if isinstance(x, Tensor) and x.is_floating_point():
            return x.detach().to(dtype).requires_grad_()
        return type(x)(leaf(item) for item in x) if isinstance(x, list | tuple) else x

    if isinstance(inputs, dict):
        return {key: leaf(value) for key, value in inputs.items()}
    cast_inputs: Inputs = leaf(inputs)
    return cast_inputs


def call(model: nn.Module, inputs: Inputs, seed: int = 0) -> Any:
    """Call `model`, seeded: a layer that draws numbers in evaluation mode draws the same."""
    torch.manual_seed(seed)
    if isinstance(inputs, dict):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)


def run(model: nn.Module, inputs: Inputs) -> Native:
    """Run `model` outside any mode and check that there is something to explain."""
    with only_gradients_of(model, floating(inputs) or embeddings(model)):
        output = call(model, inputs)
        paths = dependent(output)
    if not paths:
        raise Unusable("no output depends on the input")
    outputs = {path: z.detach() for path, z in flatten(output).items()}
    if not all(outputs[path].isfinite().any() for path in paths):
        raise Unusable("the output is not finite")
    return Native(outputs, paths)


def foreign(outputs: Outputs, native: Native, model: nn.Module, inputs: Inputs) -> list[str]:
    """The paths at which `outputs` are not, bit for bit, what the model itself gives.

    PyTorch chooses kernels by whether a weight or an input wants a gradient, and the last bits
    follow: the same plain forward has up to three values. Any one of them will do, as a whole.
    """
    different = differing(native.outputs, outputs)
    for recorded in (True, False):
        if not different:
            break
        with torch.set_grad_enabled(recorded):
            plain = {path: z.detach() for path, z in flatten(call(model, inputs)).items()}
        if not differing(plain, outputs):
            return []
    return different


def lowered(model: nn.Module, inputs: Inputs) -> set[torch.dtype]:
    """The precisions below float64 in which something that depends on the input is computed."""
    with only_gradients_of(model, floating(inputs) or embeddings(model)), _Precisions() as seen:
        outputs = flatten(call(model, inputs)).values()
    returned = {z.dtype for z in outputs if z.is_floating_point()}
    below: set[torch.dtype] = (seen.dtypes | returned) - {torch.float64}
    return below


def floating(inputs: Inputs) -> list[Tensor]:
    """The floating tensors of `inputs`."""
    if isinstance(inputs, Tensor):
        return [inputs] if inputs.is_floating_point() else []
    items: Iterable[Any] = inputs.values() if isinstance(inputs, dict) else inputs
    return [
        leaf for x in items if isinstance(x, Tensor | list | tuple) for leaf in floating(_one(x))
    ]


def embeddings(model: nn.Module) -> list[Tensor]:
    """The tables that turn token ids into tokens."""
    get: Callable[[], Any] | None = getattr(model, "get_input_embeddings", None)
    try:
        module = get() if get is not None else None
    except (AttributeError, NotImplementedError):
        module = None
    if module is not None and isinstance(getattr(module, "weight", None), nn.Parameter):
        return [module.weight]
    return [m.weight for m in model.modules() if isinstance(m, nn.Embedding)]


@contextmanager
def only_gradients_of(model: nn.Module, leaves: list[Tensor]) -> Iterator[None]:
    """Freeze every parameter of `model` but `leaves`, then restore the flags."""
    flags = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
    try:
        for parameter, _ in flags:
            if parameter.is_floating_point() or parameter.is_complex():
                parameter.requires_grad_(any(parameter is leaf for leaf in leaves))
        yield
    finally:
        for parameter, flag in flags:
            parameter.requires_grad_(flag)


class _Precisions(TorchFunctionMode):
    """Note the floating types of everything computed from the input."""

    def __init__(self) -> None:
        super().__init__()
        self.dtypes: set[torch.dtype] = set()

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        for z in out if isinstance(out, list | tuple) else (out,):
            if isinstance(z, Tensor) and z.requires_grad and z.is_floating_point():
                self.dtypes.add(z.dtype)
        return out


def _one(x: Any) -> Inputs:
    return tuple(x) if isinstance(x, list) else x
