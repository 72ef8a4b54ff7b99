"""What a path is: points around or on the way to the input, and what meets the gradient there."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class Path(Protocol):
    """Attribution along a path: the weighted sum, over its points, of a method's maps there.

    Tensors hold one row for each point and picture, points first: (points, pictures, …).
    """

    @property
    def prefix(self) -> str:
        """The word before a method's name: "Int." for Integrated."""

    def weights(self) -> Tensor:
        """Return the weight of each point; they sum to one."""

    def at(self, x: Tensor, points: Tensor) -> Tensor:
        """Move x, one row a picture, to each of the given points."""

    def velocity(self, h: Tensor, points: Tensor) -> Tensor:
        """Return what meets the gradient, for tokens h that were reached at each of the points."""

    def needs(self, points: list[int]) -> list[int]:
        """Return the points that must be run together so that `velocity` is known at `points`."""

    @property
    def far_end(self) -> int | None:
        """Return the point whose output the account takes off the input's, if there is one."""
