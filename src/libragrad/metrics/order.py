"""In which order a deletion curve removes tokens."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

__all__ = ["First", "order"]

First = Literal["most", "least"]


def order(attribution: Tensor, first: First = "most") -> Tensor:
    """Indices of the tokens in the order of their removal, (images, tokens).

    `first="most"` (MIF) removes the most influential token first, `first="least"` (LIF) the least
    influential. The attribution is signed: a strongly negative token is the least influential.

    There is one ranking and LIF walks it backwards. Equal tokens rank by their position, earlier
    ones as more influential, on every device.

    >>> import torch
    >>> a = torch.tensor([[0.1, 0.7, -2.0, 0.7]])
    >>> order(a, "most").tolist(), order(a, "least").tolist()
    ([[1, 3, 0, 2]], [[2, 0, 3, 1]])
    """
    if attribution.ndim != 2:
        raise ValueError(
            "attribution must be (images, tokens), without prefix tokens; "
            f"got shape {tuple(attribution.shape)}"
        )
    if attribution.isnan().any():
        bad = attribution.isnan().any(dim=1).nonzero().flatten().tolist()
        raise ValueError(f"attribution of image(s) {bad} has NaN: such tokens have no rank")
    ranking = torch.argsort(attribution, dim=1, descending=True, stable=True)
    if first == "most":
        return ranking
    if first == "least":
        return ranking.flip(1)
    raise ValueError(f'first must be "most" or "least"; got {first!r}')
