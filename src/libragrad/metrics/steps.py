"""Which tokens are kept at each step of a deletion curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import torch
from torch import Tensor

from libragrad.metrics.order import First, order

__all__ = ["FRACTIONS", "REMOVED", "keep_sets", "kept_tokens", "removed_fractions"]

FRACTIONS: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The fractions of tokens that are removed, one masked forward each."""

REMOVED: tuple[float, ...] = (0.0, *FRACTIONS)
"""The points of a curve: nothing removed (the unmasked logits), then each fraction."""


def removed_fractions(fractions: Sequence[float]) -> tuple[float, ...]:
    """The points of the curve for other fractions: 0, which costs no forward, then each of them.

    >>> removed_fractions([0.25, 0.5, 1.0])
    (0.0, 0.25, 0.5, 1.0)
    """
    points = (0.0, *map(float, fractions))
    if len(points) < 2 or points[-1] > 1 or any(b <= a for a, b in pairwise(points)):
        raise ValueError(
            "fractions must increase strictly within (0, 1]; 0 is not among them, because that "
            f"point comes from the unmasked logits; got {tuple(fractions)}"
        )
    return points


def kept_tokens(tokens: int, fraction: float, first: First = "most") -> int:
    """How many of `tokens` are kept when `fraction` of them is removed.

        MIF removes ⌊fraction · tokens⌋        LIF keeps ⌊(1 − fraction) · tokens⌋

    as in the paper's code: both count from the top of the ranking, so that what MIF removes at a
    fraction is what LIF keeps at its complement. Where fraction · tokens is not whole, LIF removes
    one token more than MIF. The fraction is read as the ratio that was meant: 0.29 of 100 is 29,
    where the floating product falls just short.

    >>> kept_tokens(196, 0.1, "most"), kept_tokens(196, 0.1, "least")
    (177, 176)
    """
    exact = Fraction(fraction).limit_denominator(1_000_000)
    if first == "most":
        return tokens - math.floor(exact * tokens)
    return math.floor((1 - exact) * tokens)


def keep_sets(
    attribution: Tensor,
    first: First = "most",
    fractions: Sequence[float] = FRACTIONS,
    *,
    prefix: int = 0,
) -> list[Tensor]:
    """For each fraction the indices of the tokens that stay, (images, kept), ascending.

    `attribution` holds the tokens that may go, (images, tokens). With `prefix` tokens before them
    in the model's sequence (class, registers), the indices count in that sequence, and the prefix
    always stays.

    >>> import torch
    >>> a = torch.tensor([[3.0, 1.0, 2.0, 0.0]])
    >>> [kept.tolist() for kept in keep_sets(a, "most", [0.25, 0.5])]
    [[[1, 2, 3]], [[1, 3]]]
    >>> [kept.tolist() for kept in keep_sets(a, "least", [0.25, 0.5], prefix=1)]
    [[[0, 1, 2, 3]], [[0, 1, 3]]]
    """
    removed_fractions(fractions)
    ranking = order(attribution, first)
    images, tokens = ranking.shape
    head = torch.arange(prefix, device=ranking.device).expand(images, prefix)

    def kept(fraction: float) -> Tensor:
        last = ranking[:, tokens - kept_tokens(tokens, fraction, first) :]
        return torch.cat([head, last.sort(dim=1).values + prefix], dim=1)

    return [kept(fraction) for fraction in fractions]
