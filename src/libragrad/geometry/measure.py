"""Where in the image each token of h₀ looks: three disturbed pictures tell.

Noise ε is added to the picture as it is, and once more weighted by the height v and by the width w
at which each pixel stands, both from 0 to 1. A token that looks at one place scales with its place:

    |Δh(ε v)| / |Δh(ε)| ≈ v,    |Δh(ε w)| / |Δh(ε)| ≈ w,

and a token that does not move at all looks at nothing: CLS, a register. So grid, prefix and order
are measured and not assumed, for patches of any size, also where they overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import NamedTuple

import torch
from torch import Tensor

from libragrad.geometry.layout import Layout, factors, plausible
from libragrad.geometry.order import plain
from libragrad.geometry.probe import Probe

_STILL = 1e-6
_ALIKE = 0.8


class Places(NamedTuple):
    """How strongly each position answers, and at which height and width it looks."""

    strength: Tensor
    height: Tensor
    width: Tensor

    def of(self, tokens: Tensor) -> Places:
        """Return those of some positions."""
        return Places(self.strength[tokens], self.height[tokens], self.width[tokens])


def measured(
    probe: Probe,
    shape: tuple[int, ...],
    image: tuple[int, int] | None,
    prefix: int | None = None,
) -> Layout | None:
    """Return how the tensor at the point lies over the image; None for windows and vectors."""
    answers = _answers(probe, image)
    best: tuple[float, Layout] | None = None
    for axes in _axes(shape):
        strength, height, width = (_positions(x, *axes) for x in answers)
        safe = strength.clamp(min=1e-30)
        places = Places(strength, height / safe, width / safe)
        positions = [n for axis, n in enumerate(shape) if axis not in axes]
        fit: tuple[float, Layout] | None
        if image is None:
            fit = _row(places, prefix)
        elif len(shape) == 4 and plausible((positions[0], positions[1]), image):
            fit = _map(places, (positions[0], positions[1]))
        else:  # a sequence, or windows side by side
            fit = _grid(places, image, prefix)
        if fit is not None and (best is None or fit[0] > best[0]):
            layout = Layout(fit[1].grid, fit[1].prefix, axes[1], axes[0], fit[1].order)
            best = fit[0], layout
    return None if best is None else best[1]


def _answers(probe: Probe, image: tuple[int, int] | None) -> list[Tensor]:
    """|Δh| for plain noise, and for noise by height and by width."""
    x = probe.source.detach()
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(x.shape, generator=generator).to(x)
    noise *= x.std(correction=0).clamp(min=0.1) * (1.0 if x.element_size() < 4 else 0.1)
    weights = [torch.ones_like(noise)]
    if image is not None:
        up = (torch.arange(image[0]).to(x) + 0.5) / image[0]
        across = (torch.arange(image[1]).to(x) + 0.5) / image[1]
        weights += [up[:, None].expand(x.shape), across.expand(x.shape)]
    still = probe(x)
    moved = [(probe(x + noise * weight) - still).double() for weight in weights]
    return moved if image is not None else moved * 3


def _axes(shape: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """(batch, channel) as they may be, the likely first. There is one example: its axis is 1."""
    batches = [axis for axis in (0, 1) if shape[axis] == 1]
    for batch in batches[:1]:
        for channel in dict.fromkeys((len(shape) - 1, 1 if batch == 0 else 0)):
            if channel != batch:
                yield batch, channel


def _positions(x: Tensor, batch: int, channel: int) -> Tensor:
    """|x| over the channels, for each position."""
    strength: Tensor = x.movedim((batch, channel), (0, -1)).flatten(0, -2).norm(dim=-1)
    return strength


def _map(places: Places, grid: tuple[int, int]) -> tuple[float, Layout]:
    """Rows × columns as they stand; how well they follow the image decides between the axes."""
    return 1 + _agreement(places, grid), Layout(grid, 0, 1)


def _row(places: Places, prefix: int | None) -> tuple[float, Layout]:
    """A sequence that is no image: what does not move is prefix."""
    fixed, moving = _apart(places.strength, prefix)
    order = plain([*fixed.tolist(), *moving.tolist()])
    return 1.0, Layout((1, len(moving)), len(fixed), 2, order=order)


def _grid(
    places: Places, image: tuple[int, int], prefix: int | None
) -> tuple[float, Layout] | None:
    """The grid in which every token has its own cell; else one that they follow by and large."""
    fixed, moving = _apart(places.strength, prefix)
    places, n = places.of(moving), len(moving)
    options = sorted(factors(n), key=lambda grid: not plausible(grid, image))
    for rows, columns in options:
        row = _rank(places.height) // columns
        column = _rank(places.width) // rows
        cells = row * columns + column
        if n > 1 and len(cells.unique()) == n and _regular(places, row, column):
            order = plain([*fixed.tolist(), *moving[cells.argsort()].tolist()])
            return 3.0, Layout((rows, columns), len(fixed), 2, order=order)
    for option in options:
        agreement = _agreement(places, option)
        if agreement > _ALIKE and plausible(option, image):
            order = plain([*fixed.tolist(), *moving.tolist()])
            return 1 + agreement, Layout(option, len(fixed), 2, order=order)
    return None


def _regular(places: Places, row: Tensor, column: Tensor) -> bool:
    """Whether the rows are evenly apart, and each is narrower than that; the columns too."""
    for index, place in ((row, places.height), (column, places.width)):
        count = torch.bincount(index).to(place)
        mean = torch.zeros_like(count).index_add_(0, index, place) / count
        spread = (place - mean[index]).abs().max()
        steps = mean.diff()
        if len(steps) and not bool(steps.min() > spread and steps.min() > 0.5 * steps.max()):
            return False
    return True


def _apart(strength: Tensor, prefix: int | None) -> tuple[Tensor, Tensor]:
    """The positions that do not move (or the `prefix` that move least), and the others."""
    fixed = strength <= _STILL * strength.max()
    if prefix is not None:
        fixed = torch.zeros_like(fixed)
        fixed[strength.argsort()[:prefix]] = True
    return fixed.nonzero().flatten(), (~fixed).nonzero().flatten()


def _rank(x: Tensor) -> Tensor:
    return x.argsort(stable=True).argsort(stable=True)


def _agreement(places: Places, grid: tuple[int, int]) -> float:
    """Correlation of where the tokens look with where they stand, row by row."""
    index = torch.arange(len(places.height), device=places.height.device)
    agreements = [
        float(torch.corrcoef(torch.stack([place, at.to(place)]))[0, 1])
        for place, at, n in (
            (places.height, index // grid[1], grid[0]),
            (places.width, index % grid[1], grid[1]),
        )
        if n > 1
    ]
    return min((a for a in agreements if not isnan(a)), default=0.0)
