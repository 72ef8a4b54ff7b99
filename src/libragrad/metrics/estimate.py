"""The mean over images and the standard error of that mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

__all__ = ["Estimate", "finite_rows", "mean_estimate", "standard_error"]


@dataclass(frozen=True)
class Estimate:
    """A mean, its standard error, and over how many images."""

    value: float
    standard_error: float
    count: int

    def scaled(self, scale: float) -> Estimate:
        """The same estimate in another unit: value and error are both multiplied by `scale`."""
        return Estimate(self.value * scale, self.standard_error * abs(scale), self.count)


def mean_estimate(per_image: Tensor) -> Estimate:
    """Mean and standard error of per-image numbers.

        value = (1/n) Σ x_i        standard_error = √( Σ (x_i − value)² / (n (n − 1)) )

    The sums are correctly rounded, so the same rows in any order give the same bits: it does not
    matter in which order, or from how many shards, they were collected. One image has no standard
    error: it is NaN.

    >>> import torch
    >>> mean_estimate(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    Estimate(value=2.5, standard_error=0.6454972243679028, count=4)
    """
    rows = finite_rows(per_image)
    n = len(rows)
    mean = math.fsum(rows) / n
    if n == 1:
        return Estimate(mean, math.nan, 1)
    squares = math.fsum((row - mean) ** 2 for row in rows)
    return Estimate(mean, math.sqrt(squares / (n * (n - 1))), n)


def standard_error(per_image: Tensor) -> float:
    """Standard error of the mean, s/√n with s² = Σ(x_i − x̄)²/(n − 1); see `mean_estimate`.

    >>> import torch
    >>> round(standard_error(torch.tensor([0.0, 0.0, 1.0, 1.0])), 6)
    0.288675
    """
    return mean_estimate(per_image).standard_error


def finite_rows(per_image: Tensor) -> list[float]:
    """The numbers as a list; an absent or non-finite one is an error, never a quiet NaN."""
    if per_image.ndim != 1 or per_image.numel() == 0:
        raise ValueError(
            f"expected one number an image, at least one; got shape {tuple(per_image.shape)}"
        )
    rows = [float(row) for row in per_image.tolist()]
    bad = [index for index, row in enumerate(rows) if not math.isfinite(row)]
    if bad:
        raise ValueError(
            f"{len(bad)} of {len(rows)} images have no finite value (first at row {bad[0]}: "
            f"{rows[bad[0]]}); find the cause, or leave these images out and say so"
        )
    return rows
