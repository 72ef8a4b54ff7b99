"""Least influential first: how long the model stands when the worst tokens go first."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from libragrad.metrics.area import Area, trapezoid_area
from libragrad.metrics.steps import REMOVED

__all__ = ["lif_accuracy", "lif_aopc"]


def lif_accuracy(
    least: Tensor, removed: Sequence[float] = REMOVED, area: Area = trapezoid_area
) -> Tensor:
    """Area of the accuracy curve under LIF, one number an image; higher is better.

    A good map keeps the accuracy up for long, which is a *large* area: nothing is turned.

    `least` is `accuracy_curve` of the logits of the LIF steps, (images, points).

    >>> import torch
    >>> round(lif_accuracy(torch.ones(1, 10)).item(), 12)
    0.9
    """
    return area(least, removed)


def lif_aopc(
    least: Tensor, removed: Sequence[float] = REMOVED, area: Area = trapezoid_area
) -> Tensor:
    """1 − area of the AOPC curve under LIF, one number an image; higher is better.

    A good map hardly lets the probability drop, which is a *small* area; it is turned around so
    that higher is better, as the paper prints it. It passes 1 where masking raises the probability.

    `least` is `aopc_curve` of the logits of the LIF steps, (images, points).

    >>> import torch
    >>> lif_aopc(torch.zeros(1, 10)).item()
    1.0
    """
    return 1 - area(least, removed)
