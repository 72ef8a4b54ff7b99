"""Every other element-wise nonlinearity: the secant from zero.

f(x) = [f(0)] + x ⊙ [(f(x) − f(0))/x]const. f(0) is a bias, the slope a constant: FG-complete by
construction, for any f with a finite f(0) (tanh, σ, ELU, softplus, exp, sin …). The result is a
gate, so that a product with a value still prunes it: x ⊙ σ(x) is SiLU however it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from libragrad.operators import constant
from libragrad.presets import CONSTANT
from libragrad.rules.call import Call, Outcome, graph_of_its_own, tensors_in
from libragrad.rules.status import Status


class _BySlope(torch.autograd.Function):
    """y = f(x) with the backward g ⊙ s, s = (y − f(0)) / x. Only the slope s is saved."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        f: Callable[[Tensor], Tensor],
        at_zero: Tensor | None,
        pole: Tensor | float,
    ) -> Tensor:
        """Run f as it is and keep its secant slope; `pole` is the slope at zero."""
        y = f(x)
        rise = y if at_zero is None else y - at_zero
        slope = rise / x
        ctx.save_for_backward(torch.where(slope.isnan(), pole, slope))
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None, None]:
        """Multiply by the slope."""
        (slope,) = ctx.saved_tensors
        return g * slope, None, None, None


def secant(call: Call) -> Outcome:
    """f(x) = f(0) + x ⊙ [slope]const; where f(0) is infinite, f is constant."""
    x = call.live[0]
    if call.preset.activation is not CONSTANT:
        return Outcome(call.run(), Status.GATE)

    def f(h: Tensor) -> Tensor:
        y: Tensor = call.run_with({id(x): h})
        return y

    if len(call.live) > 1 or not x.dtype.is_floating_point:
        return Outcome(call.pruned())
    b, slope = _at_zero(call, f)
    if not bool(torch.isfinite(b).all() and torch.isfinite(slope).all()):
        return Outcome(call.pruned())
    start = b if bool(b.any()) else None
    value = _BySlope.apply(x, f, start, slope)
    return Outcome(value, Status.GATE, None if start is None else lambda: start)


def root(call: Call) -> Outcome:
    """√x: a secant from zero too, but it serves as a denominator (σ, a norm)."""
    if call.preset.normalisation is not CONSTANT:
        return Outcome(call.run(), Status.SCALE)
    x = call.live[0]
    value = _BySlope.apply(x, lambda h: call.run_with({id(x): h}), None, 0.0)
    return Outcome(value, Status.SCALE)


def _at_zero(call: Call, f: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Return f(0) and f′(0): one number each, unless f takes a constant tensor beside x."""
    x = call.live[0]
    alone = all(t is x for t in tensors_in([call.args, call.kwargs]))
    with graph_of_its_own():
        zero = torch.zeros(() if alone else x.shape, dtype=x.dtype, device=x.device)
        y = f(zero.requires_grad_())
        (slope,) = torch.autograd.grad(y.sum(), zero, materialize_grads=True)
    return constant(y), slope
