"""Operations that PyTorch fuses out of several.

Their value is native, their backward that of the formula written out, under the same preset
(SwapBackward of the two).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from libragrad.operators import swap_backward
from libragrad.rules.call import Call, Outcome, Tensors


def written_out(formula: Callable[..., Tensors]) -> Callable[[Call], Outcome]:
    """Make a rule from a formula of basic operations with the signature of the fused one."""

    def compound(call: Call) -> Outcome:
        value = call.as_given()
        with call.mode():
            surrogate = formula(*call.args, **call.kwargs)
        if isinstance(value, Tensor):
            return Outcome(swap_backward(value, surrogate))
        pairs = zip(value, surrogate, strict=True)
        return Outcome(tuple(swap_backward(v, s) if s.requires_grad else v for v, s in pairs))

    compound.__doc__ = formula.__doc__
    return compound


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Σ x₁ x₂ / (‖x₁‖ ‖x₂‖): a product over a denominator."""
    x1, x2 = torch.broadcast_tensors(x1, x2)
    norms = x1.norm(dim=dim, keepdim=True).clamp_min(eps), x2.norm(dim=dim, keepdim=True)
    y: Tensor = ((x1 / norms[0]) * (x2 / norms[1].clamp_min(eps))).sum(dim)
    return y


def bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x₁ᵀ W x₂ + b."""
    y = torch.einsum("...i,oij,...j->...o", x1, weight, x2)
    return y if bias is None else y + bias


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """Return c + a / b."""
    return input + value * (tensor1 / tensor2)


def lerp(input: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """Return a + w (b − a)."""
    return input + weight * (end - input)


def hypot(input: Tensor, other: Tensor) -> Tensor:
    """Return √(a² + b²)."""
    return (input.square() + other.square()).sqrt()


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, *_: Any, **__: Any) -> Tensor:
    """Return ‖x₁ − x₂‖ₚ, which is 1-homogeneous."""
    y: Tensor = (x1.unsqueeze(-2) - x2.unsqueeze(-3)).norm(p=p, dim=-1)
    return y


def mse_loss(input: Tensor, target: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """Return the mean, or the sum, of (a − b)²."""
    square = (input - target).square()
    return square if reduction == "none" else getattr(square, reduction)()
