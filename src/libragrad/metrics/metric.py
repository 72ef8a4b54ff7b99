"""What a metric is: a pure function per image, and what a reader must know to read its number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from libragrad.metrics.estimate import Estimate, mean_estimate

__all__ = ["Metric"]


@dataclass(frozen=True)
class Metric:
    """A row of the table of metrics.

    `per_image` maps a batch to one float64 number an image. These numbers are additive: the metric
    of a data set is their mean, so rows may be stored and pooled later, in any order.

    Attributes:
        name: the key in the table.
        summary: one line for people.
        per_image: the function; its first arguments are named by `takes`.
        takes: names of the inputs of `per_image`, all with the images along the first dimension.
        higher_is_better: the direction.
        range: smallest and largest value that `per_image` can give with its defaults.
        unit: of the number that is shown.
        scale: the number that is shown is the value times this (100 for shares shown in %).
        citation: where the metric comes from.
    """

    name: str
    summary: str
    per_image: Callable[..., Tensor]
    takes: tuple[str, ...]
    higher_is_better: bool
    range: tuple[float, float]
    unit: str
    scale: float
    citation: str

    def aggregate(self, per_image: Tensor) -> Estimate:
        """The mean over images with its standard error, in the unit that is shown."""
        return mean_estimate(per_image).scaled(self.scale)

    def better(self, one: float, other: float) -> bool:
        """Whether `one` is strictly better than `other`."""
        return one > other if self.higher_is_better else one < other
