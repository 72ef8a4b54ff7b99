"""The rules as plain formulas: slow, obvious, and differentiated by autograd alone.

[x]const is x.detach(). `one` is a scalar of value 1; an additive constant b is written b * one.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def const(x: Tensor) -> Tensor:
    return x.detach()


def half_each(product: Callable[[Tensor, Tensor], Tensor], a: Tensor, b: Tensor) -> Tensor:
    """([a] · b + a · [b]) / 2"""
    return (product(const(a), b) + product(a, const(b))) / 2


def third_each(product: Callable[..., Tensor], a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    A, B, C = const(a), const(b), const(c)
    return (product(a, B, C) + product(A, b, C) + product(A, B, c)) / 3


def by_gate(gate: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """x ⊙ [γ(x)]"""
    return lambda x, one: x * const(gate(x))


def secant(f: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """f(0) + x ⊙ [(f(x) − f(0)) / x]"""

    def formula(x: Tensor, one: Tensor) -> Tensor:
        start = f(torch.zeros_like(x))
        return start * one + x * const((f(x) - start) / x)

    return formula


def constant(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """[f(x)]: everything is a bias."""
    return lambda *inputs: const(f(*inputs[:-1])) * inputs[-1]


def unchanged(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """f's own gradient, and no bias."""
    return lambda *inputs: f(*inputs[:-1])


def scaled(share: float, f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """share · f + [(1 − share) · f]: f's own gradient, scaled."""
    return lambda *inputs: share * f(*inputs[:-1]) + (1 - share) * const(f(*inputs[:-1]))


def tangent(f: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """J x + (f(x) − J x): an element-wise, piecewise affine f with its own gradient."""

    def formula(x: Tensor, one: Tensor) -> Tensor:
        leaf = x.detach().requires_grad_()
        y = f(leaf)
        (slope,) = torch.autograd.grad(y.sum(), leaf)
        return x * slope + const(y - slope * leaf) * one

    return formula


def standardised(x: Tensor, dims: tuple[int, ...], eps: float = 1e-5) -> Tensor:
    """(x − μ) / [σ]"""
    variance = x.var(dims, correction=0, keepdim=True)
    return (x - x.mean(dims, keepdim=True)) / const((variance + eps).sqrt())


def root_mean_square_norm(x: Tensor, eps: float) -> Tensor:
    """x / [√(mean x² + ε)]"""
    return x / const((x.square().mean(-1, keepdim=True) + eps).sqrt())


def in_groups(x: Tensor, groups: int) -> Tensor:
    """GroupNorm without its weights."""
    return standardised(x.reshape(x.shape[0], groups, -1), (-1,)).reshape(x.shape)


def channels(p: Tensor, x: Tensor) -> Tensor:
    return p.reshape(-1, *[1] * (x.dim() - 2))


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """[softmax(q kᵀ · scale + mask)] v, heads of keys and values repeated for grouped queries."""
    groups = q.shape[-3] // k.shape[-3] if q.dim() > 3 else 1
    k, v = (t.repeat_interleave(groups, -3) if groups > 1 else t for t in (k, v))
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, -torch.inf)
    if mask is not None:
        if mask.dtype == torch.bool:
            mask = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -torch.inf)
        scores = scores + mask
    return const(scores.softmax(-1).nan_to_num(0.0)) @ v
