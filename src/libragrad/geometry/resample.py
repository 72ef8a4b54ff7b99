"""Maps from one resolution to another, so that their sums stay what they are.

A value is an amount that lies evenly in its cell. A cell of the other grid receives of it what it
covers of that cell's area:

    out[i, k] = Σ_{j,l} R[i, j] · values[j, l] · S[k, l],
    R[i, j] = |target row i ∩ source row j| / |source row j|

Each column of R and S sums to one, so sums are kept, and an even map stays even.
"""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor

from libragrad.errors import GeometryError
from libragrad.geometry.layout import Layout


def spread(values: Tensor, source: Layout, target: Layout) -> tuple[Tensor, Tensor]:
    """Take (B, N_source) to (B, N_target); what finds no place there is returned as (B,).

    Prefix tokens go to prefix tokens where both layouts have as many, else to what is unplaced.

    >>> cls_and_four = torch.tensor([[5.0, 1.0, 2.0, 3.0, 4.0]])
    >>> spread(cls_and_four, Layout((2, 2), 1, 2), Layout((1, 2), 0, 2))
    (tensor([[4., 6.]]), tensor([5.]))
    """
    if values.ndim != 2 or values.shape[1] != source.count:
        raise GeometryError(
            f"values must be (batch, {source.count}) to lie on {source}, got {tuple(values.shape)}"
        )
    prefix, patches = values[:, : source.prefix], values[:, source.prefix :]
    moved = resize_map(patches.unflatten(1, source.grid), target.grid).flatten(1)
    if source.prefix == target.prefix:
        return torch.cat([prefix, moved], dim=1), values.new_zeros(len(values))
    empty = values.new_zeros(len(values), target.prefix)
    return torch.cat([empty, moved], dim=1), prefix.sum(dim=1)


def resize_map(values: Tensor, size: tuple[int, int]) -> Tensor:
    """Take maps (B, H, W) to another size, up or down, each with its own sum.

    >>> resize_map(torch.tensor([[[9.0, 0.0], [0.0, 0.0]]]), (3, 3))
    tensor([[[4., 2., 0.],
             [2., 1., 0.],
             [0., 0., 0.]]])
    """
    if values.ndim != 3 or prod(size) < 1:
        raise GeometryError(
            f"maps must be (batch, H, W) and the size positive, got "
            f"{tuple(values.shape)} and {tuple(size)}"
        )
    if tuple(values.shape[1:]) == tuple(size):
        return values
    rows = overlaps(values.shape[1], size[0]).to(values)
    columns = overlaps(values.shape[2], size[1]).to(values)
    return rows @ values @ columns.T


def overlaps(source: int, target: int) -> Tensor:
    """Return R (target, source): which part of each source cell lies in each target cell.

    >>> overlaps(2, 3) * 3
    tensor([[2., 0.],
            [1., 1.],
            [0., 2.]], dtype=torch.float64)
    """
    # In units of 1 / (source · target) all borders are whole numbers: nothing is lost in rounding.
    mine = torch.arange(source) * target
    theirs = (torch.arange(target) * source)[:, None]
    shared = torch.minimum(mine + target, theirs + source) - torch.maximum(mine, theirs)
    return shared.clamp(min=0).double() / target
