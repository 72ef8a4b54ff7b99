"""How the head reads the tokens: the gradient of the output by the last block's tokens tells.

Only what follows the last block is differentiated, so this costs one forward. A token that the head
does not read has a gradient of zero; of those that it reads in a sum over positions, or through the
weights of an attention, the record of the run tells which.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.engine.inputs import Inputs
from libragrad.geometry.geometry import Readout
from libragrad.geometry.layout import MOST_PREFIX_TOKENS, Layout, layout_beside
from libragrad.geometry.record import Operation, Record, Writer, answer
from libragrad.geometry.trunk import used
from libragrad.rules.call import substitute, tensors_in

_SUMS = frozenset("mean sum nanmean adaptive_avg_pool1d adaptive_avg_pool2d avg_pool2d".split())


@dataclass(frozen=True)
class Head:
    """What a model does behind its last block."""

    model: nn.Module
    inputs: Inputs
    source: Tensor
    record: Record
    last: int
    """The node of the last block's output."""
    image: tuple[int, int] | None

    def readout(self, layout: Layout) -> tuple[Readout, int | None]:
        """Return how the tokens are read, and which of them, if one is read alone."""
        g = self._gradient()
        lies = None if g is None else layout_beside(g.shape, self.image, layout)
        if g is None or lies is None:
            return Readout.OTHER, None
        behind = {node for node in used(self.record) if node > self.last}
        after = [operation for operation in self.record.operations if operation.node in behind]
        if self._attends(after, lies):
            return Readout.ATTENTION_POOL, None
        read = lies.tokens(g)[0].double().norm(dim=-1)
        prefix, patches = read[: lies.prefix], read[lies.prefix :]
        taken = read.nonzero().flatten().tolist()
        if self.image is None and taken == [lies.count - 1]:
            return Readout.LAST_TOKEN, -1
        if taken and (max(taken) < lies.prefix or (taken == [0] and self.image is None)):
            return Readout.CLS, taken[0]
        if bool(patches.all()) and any(self._sums_positions(op, lies) for op in after):
            alone = bool((prefix > 3 * patches.max()).any())  # beside the mean, not in it
            return (Readout.OTHER, 0) if alone else (Readout.MEAN, None)
        return Readout.OTHER, taken[0] if taken and taken[0] < lies.prefix else None

    def _gradient(self) -> Tensor | None:
        """Return the gradient of a random sum of the output by the last block's output.

        A new model's last layer may still be zero: then of the vectors that were made on the way.
        """
        tap = _Tap(self.model, self.source, self.last)
        with torch.no_grad():
            output = answer(tensors_in(tap.run(self.inputs)))
        g = None
        for made in ([] if output is None else [output], tap.vectors):
            with torch.enable_grad():
                sums = [(x * _noise(x)).sum() for x in made if x.requires_grad]
            if tap.z is not None and sums:
                g = torch.autograd.grad(sums, tap.z, retain_graph=True, allow_unused=True)[0]
            if g is not None and bool(g.any()):
                break
        return g

    def _attends(self, after: list[Operation], lies: Layout) -> bool:
        """Whether the tokens are read by attention, and not summed after they attended."""
        found = False
        for operation in after:
            queries, keys = _attention(operation)
            if lies.count <= keys <= lies.count + MOST_PREFIX_TOKENS:
                if queries < keys:
                    return True
                found = True
            elif self._sums_positions(operation, lies):
                found = False
        return found

    def _sums_positions(self, operation: Operation, lies: Layout) -> bool:
        """Whether an operation takes tokens that have places and leaves none."""
        if operation.name not in _SUMS or not operation.operands:
            return False
        whole = layout_beside(operation.operands[0].shape, self.image, lies)
        rest = layout_beside(operation.shape, self.image, lies)
        return whole is not None and whole.count > 1 and (rest is None or rest.count == 1)


class _Tap(Writer):
    """Runs once more, and turns the gradient on where the last block's output is made."""

    def __init__(self, model: nn.Module, source: Tensor, last: int) -> None:
        super().__init__(model, source)
        self.last = last
        self.z: Tensor | None = None
        self.vectors: list[Tensor] = []

    def passed(self, output: Any, node: int | None) -> Any:
        """Replace the last block's output by a leaf; collect the vectors made of it."""
        if not isinstance(output, Tensor):
            return output
        if node == self.last and self.z is None:
            torch.set_grad_enabled(True)  # until the surrounding no_grad is left
            self.z = output.detach().clone().requires_grad_()
            output = self.z * 1
            self.follow(output, node)
        elif self.z is not None and output.requires_grad and output.ndim == 2:
            self.vectors += [output] if output.shape[0] == 1 else []
        return output


def causal(model: nn.Module, inputs: Inputs, source: Tensor, length: int) -> bool:
    """Say whether another token changes what the model says of those after it alone.

    A token that changes nothing but its own position is padding, and tells nothing.
    """
    before = answer(tensors_in(inputs.call(model)))
    if source.dtype.is_floating_point or before is None or before.shape[1:2] != (length,):
        return False
    for at in dict.fromkeys((length // 2, length // 4, 3 * length // 4, 1, length - 2)):
        if not 0 < at < length - 1:
            continue
        other = source.clone()
        other[..., at] = torch.where(source[..., at] > 1, source[..., at] - 1, 2)
        replaced = {id(source): other}
        args, kwargs = substitute(inputs.args, replaced), substitute(inputs.kwargs, replaced)
        after = answer(tensors_in(model(*args, **kwargs)))
        if after is None or after.shape != before.shape:
            return False
        change = (after - before).abs().flatten(2).amax(dim=-1)[0]
        small = 1e-5 * change.max()
        if bool(change[:at].max() > small):
            return False
        if bool(change[at + 1 :].max() > small):
            return True
    return False


def _noise(x: Tensor) -> Tensor:
    return torch.randn(x.shape, generator=torch.Generator().manual_seed(0)).to(x)


def _attention(operation: Operation) -> tuple[int, int]:
    """How many queries attend to how many keys; (0, 0) for what is no attention."""
    shapes = [operand.shape for operand in operation.operands]
    if operation.name == "softmax" and len(operation.shape) > 2:
        return operation.shape[-2], operation.shape[-1]
    if operation.name == "scaled_dot_product_attention":
        return shapes[0][-2], shapes[1][-2]
    if operation.name == "multi_head_attention_forward":
        return shapes[0][0], shapes[1][0]
    return 0, 0
