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


class ByItsGate(torch.autograd.Function):
    """y = f(x) with the backward g ⊙ γ, γ = (y − f(0)) / x. Only the gate is saved."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, f: Callable[[Tensor], Tensor], at_zero: Tensor | None, pole: float
    ) -> Tensor:
        """Run f as it is and keep its secant slope."""
        y = f(x)
        rise = y if at_zero is None else y - at_zero
        ctx.save_for_backward((rise / x).nan_to_num_(nan=pole))
        return y

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None, None]:
        """Multiply by the gate."""
        (gate,) = ctx.saved_tensors
        return g * gate, None, None, None


def gated_activation(call: Call) -> Outcome:
    """f(x) = x ⊙ [f(x)/x]const."""
    x = call.live[0]
    if call.preset.activation is not CONSTANT:
        return Outcome(call.run(), _activated(x))
    rest, kwargs = call.args[1:], call.kwargs
    if not call.args:  # the input came by keyword
        kwargs = {key: item for key, item in kwargs.items() if item is not x}

    def f(h: Tensor) -> Tensor:
        y: Tensor = call.native(h, *rest, **kwargs)
        return y

    return Outcome(ByItsGate.apply(x, f, None, POLES[call.name]), _activated(x))


def _activated(x: Tensor) -> Status:
    status = common([x])
    return status if status.gates else Status.ACTIVATED
