"""The point itself: one gradient, where the input is."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Point:
    """Input × gradient at the input: h ⊙ ∂y/∂h.

    >>> Point().weights()
    tensor([1.], dtype=torch.float64)
    """

    prefix: str = ""

    def weights(self) -> Tensor:
        """One point, of weight one."""
        return torch.ones(1, dtype=torch.float64)

    def at(self, x: Tensor, points: Tensor) -> Tensor:
        """The input stays where it is."""
        return x.unsqueeze(0)

    def velocity(self, h: Tensor, points: Tensor) -> Tensor:
        """The tokens themselves meet the gradient."""
        return h

    def needs(self, points: list[int]) -> list[int]:
        """One point needs no other."""
        return points

    @property
    def far_end(self) -> int | None:
        """Completeness is counted against zero: the whole of y."""
        return None
