"""From a curve to one number: two areas, which differ and are therefore named."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from libragrad.metrics.steps import REMOVED

__all__ = ["Area", "mean_area", "trapezoid_area"]

Area = Callable[[Tensor, Sequence[float]], Tensor]


def trapezoid_area(curve: Tensor, removed: Sequence[float] = REMOVED) -> Tensor:
    """∫ curve d(removed) by the trapezoid rule: the area behind the paper's printed numbers.

        Σ_s (x_{s+1} − x_s) (c_s + c_{s+1}) / 2,   x = 0, 0.1, …, 0.9

    The axis ends at 0.9, so a curve of ones has area 0.9, not 1. `curve` is (…, points).

    >>> import torch
    >>> round(trapezoid_area(torch.ones(10)).item(), 12)
    0.9
    """
    x = _axis(curve, removed)
    return torch.trapezoid(curve.double(), x, dim=-1)


def mean_area(curve: Tensor, removed: Sequence[float] = REMOVED) -> Tensor:
    """The mean of the points, (1/n) Σ_s c_s: the area as the paper's equation writes it.

    >>> import torch
    >>> mean_area(torch.ones(10)).item()
    1.0
    """
    _axis(curve, removed)
    return curve.double().mean(dim=-1)


def _axis(curve: Tensor, removed: Sequence[float]) -> Tensor:
    if curve.ndim == 0 or curve.shape[-1] != len(removed):
        raise ValueError(
            f"the curve has shape {tuple(curve.shape)} but there are {len(removed)} points: pass "
            "removed=removed_fractions(fractions) with the fractions it was made with"
        )
    return torch.tensor(removed, dtype=torch.float64, device=curve.device)
