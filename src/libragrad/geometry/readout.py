"""How the head reads the tokens: the gradient of the output by the last block's tokens tells.

Only what follows the last block is differentiated, so this costs one forward. A token that the head
does not read has a gradient of zero; of those that it reads in a sum over positions, or through the
weights of an attention, the record of the run tells which.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from libragrad.engine.inputs import Inputs
from libragrad.geometry.blocks import Stretch
from libragrad.geometry.geometry import Readout
from libragrad.geometry.layout import Layout, layout_of
from libragrad.geometry.quiet import hooked
from libragrad.geometry.record import Operation, Record
from libragrad.rules.call import substitute, tensors_in

_FUSED = frozenset({"scaled_dot_product_attention", "multi_head_attention_forward"})
_SUMS = frozenset("mean sum nanmean adaptive_avg_pool1d adaptive_avg_pool2d avg_pool2d".split())


def readout(
    model: nn.Module,
    inputs: Inputs,
    record: Record,
    last: Stretch,
    layout: Layout,
    image: tuple[int, int] | None,
) -> tuple[Readout, int | None]:
    """Return how the tokens are read, and the index of the token that is read alone, if one is."""
    g = _gradient(model, inputs, record, last)
    after = [operation for operation in record.operations if operation.node > last.result]
    lies = None if g is None else layout_of(g.shape, image, known=layout, batch=1)
    if g is None or lies is None:
        return Readout.OTHER, None
    if any(_pools_by_attention(op) for op in after):
        return Readout.ATTENTION_POOL, None
    read = lies.tokens(g)[0].double().norm(dim=-1)
    prefix, patches = read[: lies.prefix], read[lies.prefix :]
    taken = read.nonzero().flatten().tolist()
    if image is None and taken == [lies.count - 1]:
        return Readout.LAST_TOKEN, -1
    if taken and (max(taken) < lies.prefix or (taken == [0] and image is None)):
        return Readout.CLS, taken[0]
    summed = any(_sums_positions(op, image, lies) for op in after)
    if summed and bool(patches.all()):
        alone = bool((prefix > 3 * patches.max()).any())  # CLS stands beside the mean, not in it
        return (Readout.OTHER, 0) if alone else (Readout.MEAN, None)
    return Readout.OTHER, taken[0] if taken and taken[0] < lies.prefix else None


def causal(model: nn.Module, inputs: Inputs, source: Tensor, length: int) -> bool:
    """Say whether another last token leaves what the model says of those before as it was."""
    before = _first(inputs.call(model))
    if source.dtype.is_floating_point or before is None or before.ndim != 3 or length < 2:
        return False
    if before.shape[1] != length:
        return False
    other = source.clone()
    other[..., -1] = torch.where(source[..., -1] > 0, source[..., -1] - 1, 1)
    replaced = {id(source): other}
    args, kwargs = substitute(inputs.args, replaced), substitute(inputs.kwargs, replaced)
    after = _first(model(*args, **kwargs))
    if after is None:
        return False
    change = (after - before).abs().amax(dim=-1)[0]
    return bool(change[:-1].max() <= 1e-5 * change.max())


def _gradient(model: nn.Module, inputs: Inputs, record: Record, last: Stretch) -> Tensor | None:
    """Return the gradient, by the last block's output, of random sums of all that is made of it.

    Of the output, and of every vector on the way: the last layer of a new model may still be zero.
    """
    tap, vectors = _Tap(record, last), _Vectors()
    if tap.module is None:
        return None
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad(), tap.context(), vectors:
        output = _first(inputs.call(model))
        if tap.z is None:
            return None
        made = [x for x in (output, *vectors.met) if x is not None and x.requires_grad]
        if not made:
            return None
        with torch.enable_grad():
            sums = [(x * torch.randn(x.shape, generator=generator).to(x)).sum() for x in made]
            return torch.autograd.grad(sums, tap.z, allow_unused=True)[0]


class _Vectors(TorchFunctionMode):
    """Collects the vectors (1, C) that depend on the tap."""

    def __init__(self) -> None:
        super().__init__()
        self.met: list[Tensor] = []

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        output = func(*args, **(kwargs or {}))
        if isinstance(output, Tensor) and output.requires_grad and output.ndim == 2:
            self.met += [output] if output.shape[0] == 1 else []
        return output


class _Tap:
    """Turns the gradient on behind the last block."""

    def __init__(self, record: Record, last: Stretch) -> None:
        self.z: Tensor | None = None
        self.leaving = last.call is not None
        call = last.call or next((c for c in record.calls if c.source == last.result), None)
        self.module = None if call is None else call.module
        self.calls = iter(range(0 if call is None else call.point.call + 1))
        self.awaited = 0 if call is None else call.point.call

    def context(self) -> Any:
        modules = [] if self.module is None else [self.module]
        return hooked(
            modules, None if self.leaving else self.enter, self.leave if self.leaving else None
        )

    def enter(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._opened((args, kwargs))

    def leave(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> Any:
        return self._opened(output)

    def _opened(self, tree: Any) -> Any:
        if next(self.calls, -1) != self.awaited:
            return None
        first = next(x for x in tensors_in(tree) if x.dtype.is_floating_point)
        torch.set_grad_enabled(True)  # until the surrounding no_grad is left
        self.z = first.detach().clone().requires_grad_()
        return substitute(tree, {id(first): self.z * 1})


def _pools_by_attention(operation: Operation) -> bool:
    """Whether fewer queries than there are keys attend: tokens among themselves are as many."""
    if operation.name == "softmax":
        return len(operation.shape) > 2 and operation.shape[-2] < operation.shape[-1]
    if operation.name not in _FUSED or len(operation.operands) < 2:
        return False
    queries, keys = (operand.shape[:-1] for operand in operation.operands[:2])
    return prod(queries) < prod(keys)


def _sums_positions(operation: Operation, image: tuple[int, int] | None, lies: Layout) -> bool:
    """Whether an operation takes tokens that have places and leaves none."""
    if operation.name not in _SUMS or not operation.operands:
        return False
    whole = layout_of(operation.operands[0].shape, image, known=lies, batch=1)
    rest = layout_of(operation.shape, image, known=lies, batch=1)
    return whole is not None and rest is None


def _first(output: Any) -> Tensor | None:
    return next((x for x in tensors_in(output) if x.dtype.is_floating_point), None)
