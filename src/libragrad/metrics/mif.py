"""Most influential first: how fast the model fails when the best tokens go first."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from libragrad.metrics.area import Area, trapezoid_area
from libragrad.metrics.steps import REMOVED

__all__ = ["mif_accuracy", "mif_aopc"]


def mif_accuracy(
    most: Tensor, removed: Sequence[float] = REMOVED, area: Area = trapezoid_area
) -> Tensor:
    """1 − area of the accuracy curve under MIF, one number an image; higher is better.

    A good map makes the accuracy fall at once, which is a *small* area; it is turned around so that
    higher is better, as the paper prints it: 100 − MIF, in percent.

    `most` is `accuracy_curve` of the logits of the MIF steps, (images, points).

    >>> import torch
    >>> fails_at_once = torch.tensor([[1.0] + 9 * [0.0]])
    >>> round(mif_accuracy(fails_at_once).item(), 12)
    0.95
    """
    return 1 - area(most, removed)


def mif_aopc(
    most: Tensor, removed: Sequence[float] = REMOVED, area: Area = trapezoid_area
) -> Tensor:
    """Area of the AOPC curve under MIF, one number an image; higher is better.

    A good map makes the probability drop at once, which is a *large* area: nothing is turned.

    `most` is `aopc_curve` of the logits of the MIF steps, (images, points).

    >>> import torch
    >>> drops_at_once = torch.tensor([[0.0] + 9 * [1.0]])
    >>> round(mif_aopc(drops_at_once).item(), 12)
    0.85
    """
    return area(most, removed)
