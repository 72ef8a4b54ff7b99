"""An entry of a table: a number, what it gains over the plain method, and its rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from libragrad.evaluation.cell import Cell
from libragrad.evaluation.published import Published
from libragrad.evaluation.score import Score
from libragrad.metrics import Estimate

__all__ = ["Entry", "with_gains", "with_ranks"]


@dataclass(frozen=True)
class Entry:
    """One number of a table.

    Attributes:
        score: of which it is the value.
        ours: mean and ±, in the unit that is shown; none where nothing was measured.
        gain: what it gains over the plain method, in percent.
        rank: 1 for the best of its column, 2 for the second.
        paper: what the paper prints.
    """

    score: Score
    ours: Estimate | None = None
    gain: float | None = None
    rank: int | None = None
    paper: Published | None = None


Grid = list[list[Entry]]


def with_gains(cells: Sequence[Sequence[Cell | None]], grid: Grid) -> Grid:
    """Say what each entry gains over the same method with plain gradients at the point itself.

    `cells` holds the cell of each entry.
    """
    plain = {
        (cell, place): entry.ours
        for line, entries in zip(cells, grid, strict=True)
        for place, (cell, entry) in enumerate(zip(line, entries, strict=True))
    }

    def gained(cell: Cell | None, place: int, entry: Entry) -> Entry:
        if cell is None or entry.ours is None:
            return entry
        base = replace(cell, preset="Standard", path="point")
        other = plain.get((base, place))
        if base == cell or other is None or other.value == 0:
            return entry
        return replace(entry, gain=100 * (entry.ours.value / other.value - 1))

    return [
        [gained(*both) for both in zip(line, range(len(line)), entries, strict=True)]
        for line, entries in zip(cells, grid, strict=True)
    ]


def with_ranks(grid: Grid) -> Grid:
    """Mark the best and the second of each column; equals share a rank."""
    columns = [_ranked(column) for column in zip(*grid, strict=True)]
    return [list(line) for line in zip(*columns, strict=True)]


def _ranked(column: Sequence[Entry]) -> list[Entry]:
    values = {entry.ours.value for entry in column if entry.ours is not None}
    values = {value for value in values if math.isfinite(value)}
    if len(values) < 2:
        return list(column)
    best = sorted(values, reverse=column[0].score.definition.higher_is_better)[:2]
    return [
        replace(entry, rank=1 + best.index(entry.ours.value))
        if entry.ours is not None and entry.ours.value in best
        else entry
        for entry in column
    ]
