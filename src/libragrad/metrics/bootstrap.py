"""A percentile bootstrap interval for the mean."""

from __future__ import annotations

import torch
from torch import Tensor

from libragrad.metrics.estimate import finite_rows

__all__ = ["bootstrap_interval"]


def bootstrap_interval(
    per_image: Tensor, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean (Efron & Tibshirani, 1993, chapter 13).

    Draw n images with replacement, take their mean, repeat `resamples` times; the interval runs
    between the (1 − level)/2 and (1 + level)/2 quantiles of these means.

    The rows are sorted first, so that the same rows in any order give the same interval.

    >>> import torch
    >>> bootstrap_interval(torch.full((20,), 0.25))
    (0.25, 0.25)
    >>> low, high = bootstrap_interval(torch.arange(100.0))
    >>> low < 49.5 < high
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, for instance 0.95; got {level}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1; got {resamples}")
    rows = torch.tensor(sorted(finite_rows(per_image)), dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    n = len(rows)
    means = torch.stack(
        [rows[torch.randint(n, (n,), generator=generator)].mean() for _ in range(resamples)]
    )
    ends = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.float64)
    low, high = torch.quantile(means, ends).tolist()
    return low, high
