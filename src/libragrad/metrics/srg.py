"""Symmetric relevance gain: both ends of the ranking in one number."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from libragrad.metrics.area import Area, trapezoid_area
from libragrad.metrics.lif import lif_accuracy, lif_aopc
from libragrad.metrics.mif import mif_accuracy, mif_aopc
from libragrad.metrics.steps import REMOVED

__all__ = ["srg_accuracy", "srg_aopc"]


def srg_accuracy(
    most: Tensor, least: Tensor, removed: Sequence[float] = REMOVED, area: Area = trapezoid_area
) -> Tensor:
    """(LIF + (1 − MIF)) / 2 with the accuracy areas, one number an image; higher is better.

    In the turned form that `mif_accuracy` and `lif_accuracy` return (and the paper prints), this is
    just their mean. With Blücher et al. (2024), whose SRG is the difference of the areas, it is
    (1 + SRG) / 2. A random ranking gives one half.

    >>> import torch
    >>> most, least = torch.tensor([[1.0] + 9 * [0.0]]), torch.ones(1, 10)
    >>> round(srg_accuracy(most, least).item(), 12)
    0.925
    """
    _check_same_start(most, least)
    return (mif_accuracy(most, removed, area) + lif_accuracy(least, removed, area)) / 2


def srg_aopc(
    most: Tensor, least: Tensor, removed: Sequence[float] = REMOVED, area: Area = trapezoid_area
) -> Tensor:
    """(MIF + (1 − LIF)) / 2 with the AOPC areas, one number an image; higher is better.

    The roles are exchanged against accuracy, because AOPC measures the drop. In the turned form
    that `mif_aopc` and `lif_aopc` return (and the paper prints), this is again just their mean.

    >>> import torch
    >>> most, least = torch.tensor([[0.0] + 9 * [1.0]]), torch.zeros(1, 10)
    >>> round(srg_aopc(most, least).item(), 12)
    0.925
    """
    _check_same_start(most, least)
    return (mif_aopc(most, removed, area) + lif_aopc(least, removed, area)) / 2


def _check_same_start(most: Tensor, least: Tensor) -> None:
    if most.shape != least.shape or not torch.equal(most[..., 0], least[..., 0]):
        raise ValueError(
            "the MIF and LIF curves must start from the same unmasked images, in the same order; "
            f"got shapes {tuple(most.shape)} and {tuple(least.shape)}, or unequal first points"
        )
