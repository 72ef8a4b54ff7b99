"""The ± of the paper's faithfulness tables: upper bounds, not standard errors.

They overestimate twice. The folds of AOPC hold a tenth of the images each, so that their means vary
about nine times as much (in variance) as the mean of all. And the area of the variances bounds the
variance of the area, however the points are correlated: for weights w ≥ 0 with Σw ≤ 1,

    Var(Σ w c) ≤ (Σ w σ)² ≤ Σw · Σ w σ² ≤ Σ w σ².

For an honest ± use `mean_estimate` of the per-image areas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from libragrad.metrics.area import trapezoid_area
from libragrad.metrics.steps import REMOVED

__all__ = [
    "accuracy_variance",
    "area_upper_bound",
    "fold_variance",
    "printed_upper_bound",
    "srg_upper_bound",
]


def accuracy_variance(curves: Tensor) -> Tensor:
    """Variance of the mean accuracy at each point, a(1 − a)/n, from (images, points) curves.

    >>> import torch
    >>> accuracy_variance(torch.tensor([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [0.0, 0.125]
    """
    accuracy = curves.double().mean(dim=0)
    return accuracy * (1 - accuracy) / len(curves)


def fold_variance(curves: Tensor, folds: int = 10, seed: int = 42) -> Tensor:
    """Variance of the fold means at each point, (1/K) Σ_k (m_k − m̄)², from (images, points) curves.

    The folds are those of scikit-learn's `KFold(10, shuffle=True, random_state=42)`. They depend on
    the order of the images: sort the rows first.

    >>> import torch
    >>> fold_variance(torch.arange(20.0)[:, None] // 20).tolist()
    [0.0]
    """
    images = len(curves)
    if images < folds:
        raise ValueError(f"{folds} folds need at least {folds} images; got {images}")
    shuffled = np.random.RandomState(seed).permutation(images)
    parts = [torch.from_numpy(part) for part in np.array_split(shuffled, folds)]
    means = torch.stack([curves.double()[part.to(curves.device)].mean(dim=0) for part in parts])
    return means.var(dim=0, correction=0)


def area_upper_bound(variance: Tensor, removed: Sequence[float] = REMOVED) -> float:
    """√(trapezoid area of the variances): bounds the standard deviation of the trapezoid area.

    It holds where the axis is no longer than 1. The unit is that of the curves (shares).

    >>> import torch
    >>> round(area_upper_bound(torch.full((10,), 0.04)), 6)
    0.189737
    """
    return math.sqrt(float(trapezoid_area(variance, removed)))


def srg_upper_bound(most: float, least: float) -> float:
    """√((most² + least²) / 2): bounds the deviation of a mean of two, however correlated.

    >>> srg_upper_bound(0.25, 0.25)
    0.25
    """
    return math.sqrt((most**2 + least**2) / 2)


def printed_upper_bound(bound: float) -> float:
    """The ± as the paper prints it, from a bound in shares: √(100 · bound²) = 10 · bound.

    The paper's code multiplies means *and variances* by 100; a deviation in percentage points is
    100 · bound. Its printed ± of MIF, LIF and SRG are therefore consistent with bounds ten times
    too small (0.1 where accuracy over 1,000 images has a bound of about 1.3). Use this only to
    compare with the printed column.

    >>> round(printed_upper_bound(0.013), 6)
    0.13
    """
    return 10 * bound
