"""Division: value ÷ anything. The denominator is constant.

Corollary (division): a quotient of two values is 0-homogeneous, FullGrad(a/b) = 0. With the
denominator constant it is linear in the numerator, hence complete. The same row serves what exists
only to become a denominator: reciprocals and inverse roots.
"""

from __future__ import annotations

import torch
from torch import Tensor

from libragrad.operators import constant
from libragrad.presets import CONSTANT
from libragrad.rules.call import Call, Outcome
from libragrad.rules.status import Status, common, status_of


def quotient(call: Call) -> Outcome:
    """a / b with b constant."""
    given = call.named("input", "other")
    if given.get("rounding_mode") is not None:
        return Outcome(call.pruned())
    a, b = given["input"], given["other"]
    if call.name == "rdiv":
        a, b = b, a
    over = isinstance(a, Tensor) and a.requires_grad
    if isinstance(b, Tensor) and b.requires_grad:
        if call.preset.normalisation is not CONSTANT:
            return Outcome(call.run(), status_of(a) if over else Status.SCALE)
        value = torch.div(a, constant(b)) if a is b else call.run_with({id(b): constant(b)})
        return Outcome(value, status_of(a)) if over else Outcome(value)
    return Outcome(call.run(), common(call.live))


def solution(call: Call) -> Outcome:
    """A⁻¹ B with A constant: a quotient of matrices."""
    given = call.named("A", "B")
    a, b = given["A"], given["B"]
    if call.preset.normalisation is not CONSTANT or not a.requires_grad:
        return Outcome(call.run(), common(call.live))
    if a is b or not b.requires_grad:
        return Outcome(call.pruned())
    return Outcome(call.run_with({id(a): constant(a)}), status_of(b))


def reciprocal(call: Call) -> Outcome:
    """1/x, x^(−½): singular at zero, met only as the scale of something else. Constant."""
    if call.preset.normalisation is CONSTANT:
        return Outcome(call.pruned())
    return Outcome(call.run(), Status.SCALE)
