"""What happened in one run of a tiny model, written down in full: every tensor and its gradient.

The models of `tiny_vit.py` and `tiny_mixer.py` fill it in by plain formulas, without the library:
[x]const is x.detach(), and autograd does the rest. Nothing here is fast or clever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto

import torch
from torch import Tensor


class At(Enum):
    """Where the tokens of a tensor are."""

    TOKENS = auto()
    """(B, N, C)"""
    COLUMNS = auto()
    """(B, C, N)"""
    FIRST = auto()
    """(B, C), of the first token."""
    NOWHERE = auto()
    """Mixed or pooled."""


@dataclass(frozen=True)
class Constant:
    """An additive constant b that entered at z, after `layer` layers had begun."""

    layer: int
    b: Tensor
    z: Tensor
    at: At

    def amounts(self, tokens: int) -> tuple[Tensor, Tensor]:
        """⟨b, ∂y/∂z⟩ by token, and what has no token."""
        product = self.b * given(self.z)
        nothing = product.new_zeros(len(product), tokens)
        if self.at is At.TOKENS:
            return product.sum(2), nothing[:, 0]
        if self.at is At.COLUMNS:
            return product.sum(1), nothing[:, 0]
        if self.at is At.FIRST:
            nothing[:, 0] = product.sum(1)
            return nothing, nothing[:, 1:].sum(1)
        return nothing, product.flatten(1).sum(1)


@dataclass
class Transcript:
    """A run with constant (Libra) or live denominators, gates and attention weights."""

    libra: bool
    row: Tensor
    """How much the head reads of each token, (N,)."""
    h: list[Tensor] = field(default_factory=list)
    """Tokens that enter each block, (B, N, C)."""
    middle: list[Tensor] = field(default_factory=list)
    """After the block's attention was added."""
    after: list[Tensor] = field(default_factory=list)
    """After its MLP was added."""
    a: list[Tensor] = field(default_factory=list)
    """Attention weights, (B, heads, N, N)."""
    pool: Tensor | None = None
    """Weights of an attention pool, (B, heads, 1, N)."""
    constants: list[Constant] = field(default_factory=list)

    def const(self, x: Tensor) -> Tensor:
        """[x]const under Libra."""
        return x.detach() if self.libra else x

    def keep(self, x: Tensor) -> Tensor:
        """Have x remember its gradient."""
        x.retain_grad()
        return x

    def begin(self, h: Tensor) -> Tensor:
        """Tokens that enter a block; the first are what is explained."""
        h = self.keep(h) if self.h else h.detach().requires_grad_()
        self.h.append(h)
        return h

    def weights(self, scores: Tensor) -> Tensor:
        """softmax(scores), a constant under Libra that still knows ∂y/∂A."""
        a = scores.softmax(-1)
        return a.detach().requires_grad_() if self.libra else self.keep(a)

    def add(self, z: Tensor, b: Tensor, at: At) -> Tensor:
        """z + b, remembered."""
        z = self.keep(z + b)
        self.constants.append(Constant(len(self.h) - 1, b.detach(), z, at))
        return z

    def linear(self, x: Tensor, layer: torch.nn.Linear, at: At) -> Tensor:
        """x Wᵀ + b"""
        return self.add(x @ layer.weight.T, layer.bias, at)

    def layer_norm(self, x: Tensor, norm: torch.nn.LayerNorm, at: At) -> Tensor:
        """(x − μ) / [σ] ⊙ γ + β"""
        sigma = (x.var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
        y = (x - x.mean(-1, keepdim=True)) / self.const(sigma) * norm.weight
        return self.add(y, norm.bias, at)

    def gelu(self, x: Tensor) -> Tensor:
        """x ⊙ [Φ(x)]"""
        return x * self.const(0.5 * (1 + torch.erf(x / 2**0.5)))

    def swiglu(self, x: Tensor, u: Tensor) -> Tensor:
        """SiLU(x) ⊙ u, a product of two values: each gets half."""
        s = x * self.const(x.sigmoid())
        return 0.5 * (s * self.const(u) + self.const(s) * u) if self.libra else s * u

    def backward(self, y: Tensor) -> Transcript:
        """Fill in every gradient."""
        y.sum().backward()
        return self


def given(x: Tensor) -> Tensor:
    """∂y/∂x, zero where y does not depend on x."""
    return torch.zeros_like(x) if x.grad is None else x.grad


Formula = Callable[[Transcript], tuple[Tensor, Tensor]]
