"""Attention as an observer sees it: rows of A and ∂y/∂A, formed a few at a time and only if asked.

The gradient by the weights is ∂A = g Vᵀ, whatever the preset sends further back. A fused call gives
q, k and v, of which A = softmax(qkᵀ s + mask) is formed for some queries at a time, so that neither
N × N × layers numbers are stored nor the model is switched to another implementation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

_ENTRIES = 1 << 23
"""How many weights are formed at a time (64 MiB in float64)."""

Rows = tuple[slice, Tensor, Tensor | None]
"""Some queries, their weights A and ∂A, each (rows, heads, queries, keys)."""


class Weights(Protocol):
    """Attention weights, fused or written out."""

    def some(self, g: Tensor, gradient: bool) -> Iterator[Rows]:
        """Yield A and, if wanted, ∂A for some queries after others."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and keys there are."""

    @property
    def rows(self) -> int:
        """How many rows the batch has."""


@dataclass(frozen=True)
class Attention:
    """The attention of layer `layer` and the gradient g = ∂y/∂(A V)."""

    layer: int
    weights: Weights
    g: Tensor
    order: tuple[int, ...] | None = None
    """Where the model keeps token i, if not at i."""

    def pull(
        self, r: Tensor, of: Callable[[Tensor, Tensor], Tensor], *, gradient: bool = True
    ) -> Tensor:
        """Return r M, (rows, keys), for the matrix M = of(A, ∂A) of (rows, queries, keys).

        M is formed for some queries at a time and never whole.
        """
        count, keys = self.weights.shape
        order = None if self.order is None else list(self.order)
        if order is not None and len(order) == count:
            r = torch.empty_like(r).index_copy_(1, torch.tensor(order, device=r.device), r)
        total = r.new_zeros(r.shape[0], keys)
        for queries, a, da in self.weights.some(self.g, gradient):
            m = of(a, a if da is None else da).to(r.dtype)
            total += torch.einsum("bq,bqk->bk", r[:, queries], m)
        return total[:, order] if order is not None and len(order) == keys else total


@dataclass(frozen=True)
class Fused:
    """The arguments of F.scaled_dot_product_attention."""

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None
    causal: bool
    factor: float | None
    rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and keys there are."""
        return self.q.shape[-2], self.k.shape[-2]

    def some(self, g: Tensor, gradient: bool) -> Iterator[Rows]:
        """Form softmax(qkᵀ s + mask) for some queries after others."""
        q, k, v = self.q, self.k, self.v
        g = g.reshape(*q.shape[:-1], v.shape[-1])
        groups = q.shape[1] // k.shape[1]
        k, v = (x.repeat_interleave(groups, 1) if groups > 1 else x for x in (k, v))
        factor = q.shape[-1] ** -0.5 if self.factor is None else self.factor
        count, keys = self.shape
        size = max(1, _ENTRIES // max(1, q.shape[0] * q.shape[1] * keys))
        for start in range(0, count, size):
            rows = slice(start, min(start + size, count))
            scores = (q[:, :, rows] * factor) @ k.mT
            scores = self._masked(scores, rows)
            a = scores.softmax(-1).nan_to_num(0.0)
            yield rows, a, g[:, :, rows] @ v.mT if gradient else None

    def _masked(self, scores: Tensor, rows: slice) -> Tensor:
        if self.causal:
            i = torch.arange(rows.start, rows.stop, device=scores.device)[:, None]
            seen = torch.arange(scores.shape[-1], device=scores.device) <= i
            scores = scores.masked_fill(~seen, -math.inf)
        if self.mask is None:
            return scores
        mask = self.mask if self.mask.shape[-2] == 1 else self.mask[..., rows, :]
        if mask.dtype == torch.bool:
            return scores.masked_fill(~mask, -math.inf)
        return scores + mask


@dataclass(frozen=True)
class Written:
    """A product A @ V that the model wrote itself, in any spelling."""

    a: Tensor
    v: Tensor
    product: Callable[[Tensor, Tensor], Any]
    """The model's own product, as a function of A and V."""
    rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and keys there are."""
        return self.a.shape[-2], self.a.shape[-1]

    def some(self, g: Tensor, gradient: bool) -> Iterator[Rows]:
        """Give A as the model formed it, and ∂A by the product's own derivative."""
        whole = slice(0, self.shape[0])
        da = None
        if gradient:
            # The derivative of the product itself, whatever preset is on.
            with torch._C.DisableTorchFunction(), torch.enable_grad():
                leaf = self.a.detach().requires_grad_()
                (da,) = torch.autograd.grad(self.product(leaf, self.v), leaf, g)
            da = self._by_heads(da)
        yield whole, self._by_heads(self.a), da

    def _by_heads(self, a: Tensor) -> Tensor:
        """(rows · heads, queries, keys) and the like as (rows, heads, queries, keys)."""
        return a.reshape(self.rows, -1, *self.shape)
