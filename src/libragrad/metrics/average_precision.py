"""Segmentation average precision: does the map rank the object's pixels before the others?"""

from __future__ import annotations

import torch
from torch import Tensor

from libragrad.metrics.region import flat_region

__all__ = ["average_precision"]


def average_precision(attribution: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
    """Step-wise average precision, one number an image; higher is better.

        AP = Σ_k (R_k − R_{k−1}) P_k

    over the distinct scores in descending order, with precision P_k and recall R_k of "score at
    least the k-th". No interpolation; pixels of equal score enter together. This is scikit-learn's
    `average_precision_score` of every image by itself.

    `attribution` and `mask` are (images, …) of one shape; pixels outside `valid` do not count.

    >>> import torch
    >>> mask = torch.tensor([[1, 0, 1, 0]])
    >>> average_precision(torch.tensor([[4.0, 1.0, 3.0, 2.0]]), mask).tolist()  # object on top
    [1.0]
    >>> average_precision(torch.zeros(1, 4), mask).tolist()  # no opinion: the share of the mask
    [0.5]
    """
    score, inside, outside = flat_region(attribution, mask, valid)
    score, ranking = score.sort(dim=1, descending=True)
    inside, outside = inside.gather(1, ranking), outside.gather(1, ranking)
    hits, misses = inside.cumsum(dim=1), outside.cumsum(dim=1)
    last = _last_of_equals(score)
    hits, misses = hits.gather(1, last), misses.gather(1, last)
    precision = hits.double() / (hits + misses).clamp(min=1)
    return (precision * inside).sum(dim=1) / inside.sum(dim=1)


def _last_of_equals(ordered: Tensor) -> Tensor:
    """For each place of ordered rows the last place that holds the same value."""
    width = ordered.shape[1]
    place = torch.arange(width, device=ordered.device).expand_as(ordered)
    ends = torch.ones_like(ordered, dtype=torch.bool)
    ends[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
    return torch.where(ends, place, width - 1).flip(1).cummin(dim=1).values.flip(1)
