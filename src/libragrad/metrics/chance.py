"""What a random map scores: the known answers of the random baseline."""

from __future__ import annotations

import math

from torch import Tensor

__all__ = ["CHANCE_SRG", "chance_average_precision", "chance_share"]

CHANCE_SRG = 0.5
"""Expected SRG (accuracy or AOPC) of a random ranking.

Then MIF and LIF remove random tokens alike, and the two areas cancel. Exact where every
fraction · tokens is whole; otherwise LIF removes one token more and it is a little less
(the paper prints 49.6 for 196 tokens).
"""


def chance_average_precision(positives: int, total: int) -> float:
    """Expected average precision of a random ranking without ties (Bestgen, 2015).

        E[AP] = (H + (m − 1)/(n − 1) · (n − H)) / n,   H = Σ_{k≤n} 1/k

    for m positives of n. Near the share m/n for many pixels; a *constant* map has exactly m/n.

    >>> chance_average_precision(1, 2)  # first or second of two: (1 + 1/2) / 2
    0.75
    """
    if not 1 <= positives <= total:
        raise ValueError(f"expected 1 ≤ positives ≤ total; got {positives} of {total}")
    if total == 1:
        return 1.0
    harmonic = math.fsum(1 / k for k in range(1, total + 1))
    return (harmonic + (positives - 1) / (total - 1) * (total - harmonic)) / total


def chance_share(mask: Tensor) -> Tensor:
    """The share of the mask, one number an image: the expected pointing game of a random map.

    It is also the expected mass accuracy of one with independent positive scores, and both of a
    positive constant map exactly.

    >>> import torch
    >>> chance_share(torch.tensor([[1, 0, 0, 0]])).tolist()
    [0.25]
    """
    return mask.bool().flatten(1).double().mean(dim=1)
