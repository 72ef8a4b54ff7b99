"""Mass accuracy: how much of the positive attribution lies on the object?"""

from __future__ import annotations

import torch
from torch import Tensor

from libragrad.metrics.region import flat_region

__all__ = ["mass_accuracy"]


def mass_accuracy(attribution: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
    """Σ_{p in mask} a_p⁺ / Σ_p a_p⁺ with a⁺ = max(a, 0), one number an image; higher is better.

    A map without positive attribution points nowhere and scores 0.

    >>> import torch
    >>> mass_accuracy(torch.tensor([[3.0, 1.0, -9.0]]), torch.tensor([[1, 0, 0]])).tolist()
    [0.75]
    """
    score, inside, outside = flat_region(attribution, mask, valid)
    # Dividing by the maximum first keeps the sums of very large or very small maps finite.
    positive = score.clamp(min=0) * (inside | outside)
    top = positive.amax(dim=1, keepdim=True)
    positive = torch.where(top > 0, positive / top, positive)
    total = positive.sum(dim=1)
    return torch.where(total > 0, (positive * inside).sum(dim=1) / total, total)
