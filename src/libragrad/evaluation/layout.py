"""A table as data: methods down, models or scores across, each number with its error and rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from libragrad.errors import RecipeError
from libragrad.evaluation.cell import FIELDS, Cell
from libragrad.evaluation.names import cell_title, score_title, title
from libragrad.evaluation.published import Published, find_published
from libragrad.evaluation.query import Measured
from libragrad.evaluation.recipe import TableSpec
from libragrad.evaluation.score import Score
from libragrad.metrics import Estimate

__all__ = ["Entry", "Layout", "Line", "lay_out"]

# Fields that do not tell one method from another. The target goes with what is measured.
_NOT_OF_THE_METHOD = ("model", "dataset", "metric", "samples", "target")


@dataclass(frozen=True)
class Entry:
    """One number of a table.

    Attributes:
        score: of which it is the value.
        ours: mean and error, in the unit that is shown; none where nothing was measured.
        gain: what it gains over the plain method, in percent.
        rank: 1 for the best of its column, 2 for the second.
        paper: what the paper prints.
    """

    score: Score
    ours: Estimate | None = None
    gain: float | None = None
    rank: int | None = None
    paper: Published | None = None


@dataclass(frozen=True)
class Line:
    """A row of a table."""

    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Layout:
    """A table to be written in any format."""

    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Column:
    value: str | int | None
    score: Score


def lay_out(
    spec: TableSpec, planned: Sequence[Cell], found: Sequence[Measured]
) -> tuple[Layout, ...]:
    """The tables that a recipe describes, of what was measured of its cells."""
    measured = {part.cell.of_any_size(): part for part in found}
    parts: dict[str | int | None, list[Cell]] = {}
    for cell in planned:
        parts.setdefault(getattr(cell, spec.split) if spec.split else None, []).append(cell)
    layouts = []
    for part, cells in parts.items():
        heading = spec.title if part is None else f"{spec.title}: {title(part)}"
        layout = _one(spec, cells, measured)
        if layout.lines:
            layouts.append(replace(layout, title=heading))
    return tuple(layouts)


def _one(spec: TableSpec, cells: Sequence[Cell], measured: dict[Cell, Measured]) -> Layout:
    wanted = {score.measurement for score in spec.scores}
    cells = [cell for cell in cells if cell.metric in wanted]
    values = dict.fromkeys(getattr(cell, spec.across) if spec.across else None for cell in cells)
    columns = [_Column(value, score) for value in values for score in spec.scores]
    rows: dict[tuple[str | int, ...], dict[_Column, Cell]] = {}
    for cell in cells:
        row = rows.setdefault(_row_key(cell, spec), {})
        for column in columns:
            if column.score.measurement == cell.metric and (
                column.value is None or column.value == getattr(cell, spec.across or "model")
            ):
                if column in row:
                    raise RecipeError(
                        f"table {spec.title!r} has one place for {row[column]} and {cell}; tell "
                        "them apart by across or split"
                    )
                row[column] = cell
    names = _names([next(iter(row.values())) for row in rows.values()], spec)
    grid = [
        [_entry(column.score, row.get(column), measured) for column in columns]
        for row in rows.values()
    ]
    grid = _with_gains(list(rows.values()), columns, grid)
    for place in range(len(columns)):
        _rank(grid, place)
    heads = tuple(_head(column, spec) for column in columns)
    lines = tuple(Line(n, tuple(entries)) for n, entries in zip(names, grid, strict=True))
    return Layout(spec.title, heads, lines, _notes(cells, measured, grid))


def _row_key(cell: Cell, spec: TableSpec) -> tuple[str | int, ...]:
    left_out = (*_NOT_OF_THE_METHOD, spec.across, spec.split)
    return tuple(getattr(cell, name) for name in FIELDS if name not in left_out)


def _names(cells: Sequence[Cell], spec: TableSpec) -> list[str]:
    """Titles of the rows; where two are alike, with the fields that tell them apart."""
    titles = [cell_title(cell) for cell in cells]
    names = []
    for cell, own in zip(cells, titles, strict=True):
        alike = [c for c, other in zip(cells, titles, strict=True) if other == own]
        differing = [
            name
            for name in FIELDS
            if name not in (*_NOT_OF_THE_METHOD, "method", "preset", "path", spec.across)
            and len({getattr(c, name) for c in alike}) > 1
        ]
        words = ", ".join(f"{name} {getattr(cell, name)}" for name in differing)
        names.append(f"{own} ({words})" if words else own)
    return names


def _entry(score: Score, cell: Cell | None, measured: dict[Cell, Measured]) -> Entry:
    if cell is None:
        return Entry(score)
    paper = find_published(cell, score)
    part = measured.get(cell.of_any_size())
    numbers = None if part is None else score.per_image(part.rows)
    if numbers is None or not len(numbers):
        return Entry(score, paper=paper)
    return Entry(score, score.definition.aggregate(numbers), paper=paper)


def _with_gains(
    rows: Sequence[dict[_Column, Cell]], columns: Sequence[_Column], grid: list[list[Entry]]
) -> list[list[Entry]]:
    """What each entry gains over the same method with plain gradients at the point itself."""
    plain = {
        (cell, place): grid[index][place].ours
        for index, row in enumerate(rows)
        for place, column in enumerate(columns)
        if (cell := row.get(column)) is not None
    }

    def gain(cell: Cell | None, place: int, entry: Entry) -> Entry:
        if cell is None or entry.ours is None:
            return entry
        base = replace(cell, preset="Standard", path="point")
        other = plain.get((base, place))
        if base == cell or other is None or other.value == 0:
            return entry
        return replace(entry, gain=100 * (entry.ours.value / other.value - 1))

    return [
        [
            gain(row.get(column), place, entry)
            for place, (column, entry) in enumerate(zip(columns, entries, strict=True))
        ]
        for row, entries in zip(rows, grid, strict=True)
    ]


def _rank(grid: list[list[Entry]], place: int) -> None:
    """Mark the best and the second of a column; equals share a rank."""
    values = {
        entry.ours.value
        for entries in grid
        if (entry := entries[place]).ours is not None and math.isfinite(entry.ours.value)
    }
    if len(values) < 2:
        return
    best = sorted(values, reverse=grid[0][place].score.definition.higher_is_better)[:2]
    for entries in grid:
        ours = entries[place].ours
        if ours is not None and ours.value in best:
            entries[place] = replace(entries[place], rank=1 + best.index(ours.value))


def _head(column: _Column, spec: TableSpec) -> str:
    score = column.score
    words = score_title(score.metric, score.labels, score.area)
    if column.value is None:
        return words
    return title(column.value) if len(spec.scores) == 1 else f"{title(column.value)}, {words}"


def _notes(
    cells: Sequence[Cell], measured: dict[Cell, Measured], grid: Sequence[Sequence[Entry]]
) -> tuple[str, ...]:
    """How many images stand behind the numbers, and what is missing."""
    parts = [measured.get(cell.of_any_size()) for cell in cells]
    there = [part for part in parts if part is not None]
    counts = sorted({entry.ours.count for line in grid for entry in line if entry.ours})
    notes = []
    if counts:
        few, many = counts[0], counts[-1]
        notes.append(f"images: {few}" if few == many else f"images: {few} to {many}")
    failed = sum(part.failed for part in there)
    if failed:
        notes.append(f"failed: {failed} rows without a result")
    missing = len(parts) - len(there)
    if missing:
        notes.append(f"not measured yet: {missing} of {len(parts)} cells")
    return tuple(notes)
