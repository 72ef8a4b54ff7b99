"""Gated activations: GELU, SiLU, Mish, hard-swish.

Each is f(x) = x ⊙ γ(x) with a gate γ. f is not FG-complete (its slope at x is not f(x)/x), but with
the gate constant it is linear: f(x) = x ⊙ [γ(x)]const. Libra-GatedActivation; γ(0) is the limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from libragrad.presets import CONSTANT
from libragrad.rules.call import Call, Outcome
from libragrad.rules.status import Status, common

POLES = {
    "gelu": 0.5,
    "silu": 0.5,
    "hardswish": 0.5,
    "mish": math.tanh(math.log(2)),
}
"""γ(0) of each gated activation: the gate where f(x)/x reads 0/0."""


class _ByItsGate(torch.autograd.Function):
    """y = f(x) with the backward g ⊙ γ, γ = f(x)/x. Like PyTorch's own, it saves x alone."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, f: Callable[[Tensor], Tensor], pole: float, in_place: bool
    ) -> Tensor:
        """Run f as it is; the gate is made when it is needed."""
        ctx.save_for_backward(x.clone() if in_place else x)
        ctx.f, ctx.pole = f, pole
        return f(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None, None]:
        """Multiply by the gate."""
        (x,) = ctx.saved_tensors
        gate = ctx.f(x).div_(x).nan_to_num_(nan=ctx.pole)
        return g * gate, None, None, None


def gated_activation(call: Call) -> Outcome:
    """f(x) = x ⊙ [f(x)/x]const."""
    x = call.live[0]
    if call.preset.activation is not CONSTANT:
        return Outcome(call.run(), _activated(x))
    native, rest, kwargs = call.native, call.args[1:], call.kwargs
    if not call.args:  # the input came by keyword
        kwargs = {key: item for key, item in kwargs.items() if item is not x}

    def f(h: Tensor) -> Tensor:  # the graph will keep f, so f must not keep x
        y: Tensor = native(h, *rest, **kwargs)
        return y

    return Outcome(_ByItsGate.apply(x, f, POLES[call.name], call.in_place), _activated(x))


def _activated(x: Tensor) -> Status:
    status = common([x])
    return status if status.gates else Status.ACTIVATED
