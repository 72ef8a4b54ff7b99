"""A table as data: methods down, models or scores across, each number with its error and rank."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from libragrad.errors import RecipeError
from libragrad.evaluation.cell import FIELDS, Cell
from libragrad.evaluation.entry import Entry, with_gains, with_ranks
from libragrad.evaluation.names import cell_title, score_title, title
from libragrad.evaluation.published import find_published
from libragrad.evaluation.query import Measured
from libragrad.evaluation.recipe import TableSpec
from libragrad.evaluation.score import Score
from libragrad.evaluation.uncertainty import UNCERTAINTIES, Uncertainty

__all__ = ["Layout", "Line", "lay_out"]

# Fields that do not tell one method from another. The target goes with what is measured.
_NOT_OF_THE_METHOD = ("model", "dataset", "metric", "samples", "target")


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
    spec: TableSpec,
    planned: Sequence[Cell],
    found: Sequence[Measured],
    uncertainty: Uncertainty = UNCERTAINTIES["standard"],
) -> tuple[Layout, ...]:
    """The tables that a recipe describes, of what was measured of its cells."""
    measured = {part.cell.of_any_size(): part for part in found}
    parts: dict[str | int | None, list[Cell]] = {}
    for cell in planned:
        parts.setdefault(getattr(cell, spec.split) if spec.split else None, []).append(cell)
    layouts = []
    for part, cells in parts.items():
        heading = spec.title if part is None else f"{spec.title}: {title(part)}"
        layout = _one(spec, cells, measured, uncertainty)
        if layout.lines:
            layouts.append(replace(layout, title=heading))
    return tuple(layouts)


def _one(
    spec: TableSpec,
    cells: Sequence[Cell],
    measured: dict[Cell, Measured],
    uncertainty: Uncertainty,
) -> Layout:
    wanted = {score.measurement for score in spec.scores}
    cells = [cell for cell in cells if cell.metric in wanted]
    values = dict.fromkeys(getattr(cell, spec.across) if spec.across else None for cell in cells)
    columns = [_Column(value, score) for value in values for score in spec.scores]
    targets = {cell.target for cell in cells if cell.metric == "deletion"}
    rows: dict[tuple[str | int, ...], dict[_Column, Cell]] = {}
    for cell in cells:
        row = rows.setdefault(_row_key(cell, spec), {})
        for column in columns:
            if _belongs(cell, column, spec, targets):
                if column in row:
                    raise RecipeError(
                        f"table {spec.title!r} has one place for {row[column]} and {cell}; tell "
                        "them apart by across or split"
                    )
                row[column] = cell
    names = _names([next(iter(row.values())) for row in rows.values()], spec)
    placed = [[row.get(column) for column in columns] for row in rows.values()]
    grid = [
        [
            _entry(column.score, cell, measured, uncertainty)
            for column, cell in zip(columns, line, strict=True)
        ]
        for line in placed
    ]
    grid = with_ranks(with_gains(placed, grid))
    heads = tuple(_head(column, spec) for column in columns)
    lines = tuple(Line(n, tuple(entries)) for n, entries in zip(names, grid, strict=True))
    return Layout(spec.title, heads, lines, (*_notes(cells, measured, grid), uncertainty.summary))


def _belongs(cell: Cell, column: _Column, spec: TableSpec, targets: Set[str]) -> bool:
    """Whether the cell is measured for that column.

    Where maps of both targets were deleted by, those of the label are held against the label and
    those of the predicted class against the predicted class, as in the paper.
    """
    score = column.score
    if score.measurement != cell.metric:
        return False
    if spec.across and column.value != getattr(cell, spec.across):
        return False
    told_apart = "target" in (spec.across, spec.split)
    free = told_apart or score.measurement != "deletion" or score.labels not in targets
    return free or cell.target == score.labels


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


def _entry(
    score: Score, cell: Cell | None, measured: dict[Cell, Measured], uncertainty: Uncertainty
) -> Entry:
    if cell is None:
        return Entry(score)
    paper = find_published(cell, score)
    part = measured.get(cell.of_any_size())
    if part is None or not len(numbers := score.per_image(part.rows)):
        return Entry(score, paper=paper)
    mean = score.definition.aggregate(numbers)
    error = uncertainty.of(score, part.rows) * score.definition.scale
    return Entry(score, replace(mean, standard_error=error), paper=paper)


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
