"""Pointing game: does the map's maximum lie on the object?"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import conv2d

from libragrad.metrics.region import flat_region

__all__ = ["pointing_game"]


def pointing_game(
    attribution: Tensor, mask: Tensor, valid: Tensor | None = None, *, tolerance: int = 0
) -> Tensor:
    """1 where the largest attribution lies within the mask, one number an image; higher is better.

    Of several equal maxima the share within the mask counts, so that no arbitrary choice is made
    and a constant map scores the share of the mask. `tolerance` widens the mask by so many pixels
    (Euclidean; Zhang et al. use 15) and needs maps (images, height, width).

    >>> import torch
    >>> mask = torch.tensor([[[1, 0], [0, 0]]])
    >>> pointing_game(torch.tensor([[[5.0, 1.0], [1.0, 1.0]]]), mask).tolist()
    [1.0]
    >>> pointing_game(torch.zeros(1, 2, 2), mask).tolist()
    [0.25]
    """
    if tolerance:
        mask = _widen(mask, tolerance)
    score, inside, outside = flat_region(attribution, mask, valid)
    score = score.masked_fill(~(inside | outside), -torch.inf)
    maxima = score == score.amax(dim=1, keepdim=True)
    return (maxima & inside).sum(dim=1) / maxima.sum(dim=1).double()


def _widen(mask: Tensor, radius: int) -> Tensor:
    """All pixels within `radius` of the mask, in Euclidean distance."""
    if mask.ndim != 3 or radius < 0:
        raise ValueError(
            "a tolerance is a positive number of pixels and needs masks (images, height, width); "
            f"got tolerance {radius} and shape {tuple(mask.shape)}"
        )
    offset = torch.arange(-radius, radius + 1, device=mask.device)
    disc = (offset[:, None] ** 2 + offset**2 <= radius**2).float()[None, None]
    near = conv2d(mask.bool().float()[:, None], disc, padding=radius)[:, 0]
    return near > 0.5
