"""Observers: an attribution method is a few lines that listen while a backward pass goes by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from libragrad.observation.attention import Attention
from libragrad.observation.events import Bias, Crossing, Event, Scene, Tally
from libragrad.observation.stream import Move


class Observer:
    """Hears the events that it names, in the order of the backward (last layer first).

    The state that it keeps is O(tokens). A subclass is final, and overrides what it hears.
    """

    hears: ClassVar[frozenset[Event]] = frozenset()

    def __init__(self, scene: Scene) -> None:
        """Begin with nothing attributed."""
        self.scene = scene
        self.tokens, self.rest = scene.zeros()

    def stream(self, moves: Sequence[Move]) -> None:
        """Hear, before all else, how the residual stream moved in each block of the forward."""

    def crossing(self, at: Crossing) -> None:
        """Hear h and its gradient where a layer begins."""

    def bias(self, at: Bias) -> None:
        """Hear what one additive constant gave to the output."""

    def attention(self, at: Attention) -> None:
        """Hear the attention of one layer."""

    def add(self, tally: Tally) -> None:
        """Add amounts to what has been attributed."""
        self.tokens += tally[0]
        self.rest += tally[1]

    def accounted(self) -> Tensor:
        """Return the part of y, by row, that the account behind the map explains; NaN: no claim."""
        return self.rest.new_full(self.rest.shape, torch.nan)

    def result(self) -> Tally:
        """Return what has been attributed when the pass is over."""
        return self.tokens, self.rest
