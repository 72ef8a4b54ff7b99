"""What there is to hear: the explained scene, and the events of a pass over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import torch
from torch import Tensor

from libragrad.geometry.geometry import Readout
from libragrad.geometry.layout import Layout

Tally = tuple[Tensor, Tensor]
"""Amounts with a place, (rows, tokens), and amounts without one, (rows,)."""


class Event(Enum):
    """The kinds of events; an observer names those that it hears, and costs nothing else."""

    CROSSING = "h entering a layer, and the gradient there"
    BIAS = "an additive constant, and the gradient where it enters"
    ATTENTION = "attention weights, and the gradient of the attention's output"
    STREAM = "the residual stream, in the forward: before a block, after its attention, after it"


@dataclass(frozen=True)
class Scene:
    """What is explained: how many rows (pictures × points of the path), tokens and layers."""

    rows: int
    layout: Layout
    """Of the level at which attributions are given: h₀, the pixels, or a block's input."""
    layers: int
    """How many tensors h₀ … h_{L−1} cross on the way to the output."""
    reads: Readout
    cls: int | None
    like: Tensor
    """An empty tensor of the dtype and device to compute with."""
    seeds: tuple[int, ...] = ()
    """A seed for each row, for methods that draw numbers."""

    @property
    def tokens(self) -> int:
        """How many tokens the explained level has, prefix first."""
        return self.layout.count

    def zeros(self) -> Tally:
        """Return nothing, attributed."""
        return self.like.new_zeros(self.rows, self.tokens), self.like.new_zeros(self.rows)

    def readout(self) -> Tensor:
        """Return, for each row, how much the head reads of each token (CLS: one; mean: 1/N)."""
        r = self.like.new_zeros(self.rows, self.tokens)
        if self.reads in (Readout.CLS, Readout.LAST_TOKEN) and self.cls is not None:
            r[:, self.cls] = 1.0
        else:
            r[:, self.layout.prefix :] = 1.0 / (self.tokens - self.layout.prefix)
        return r


@dataclass(frozen=True)
class Crossing:
    """Tokens h that enter a layer, before its norm, and g = ∂y/∂h; (rows, tokens, channels)."""

    layer: int
    h: Tensor
    g: Tensor
    step: Tensor
    """What meets the gradient: h itself at a point, the velocity dh/dα on an integrated path."""
    place: Callable[[Tensor], Tally]
    """Brings (rows, tokens of this layer) onto the explained level; sums stay as they are."""

    @cached_property
    def _product(self) -> Tally:
        return self.place(torch.einsum("btc,btc->bt", self.step, self.g))

    def input_x_gradient(self) -> Tally:
        """Return Σ_c step ⊙ g, placed; worked out once for all who ask."""
        return self._product


@dataclass(frozen=True)
class Bias:
    """⟨b, ∂y/∂z⟩ of one additive constant: its part with a place and its part without."""

    layer: int
    """The last layer that was entered before the constant was added."""
    tokens: Tensor
    rest: Tensor
