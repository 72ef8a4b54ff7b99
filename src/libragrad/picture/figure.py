"""A sheet as a matplotlib figure.

Texts are measured and wrapped first, and everything else makes room for them, so that nothing
overlaps. From the top: the title, the headings of the columns, a row of maps with what is said of
them, …, the colour bar. From the left: the names of the rows (the name of a single row is the
title), the picture, the maps.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from libragrad.errors import InputError
from libragrad.picture.aside import Aside, aside
from libragrad.picture.canvas import POINTS, QUIET, Canvas, fitted
from libragrad.picture.colour import Pixels, colours, overlay
from libragrad.picture.legend import caption, legend
from libragrad.picture.lettering import height, width, wrap
from libragrad.picture.look import PAPER, Look
from libragrad.picture.patches import patch_values
from libragrad.picture.recipe import Limits
from libragrad.picture.sheet import Cell, Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure"]

TITLE, HEADING, CAPTION = 12.0, 9.5, 8.0  # points
MARGIN, GAP, CLOSE = 0.2, 0.16, 0.06  # inches, as all that follows
SPARK, BAR, BAR_WIDTH = 0.32, 0.1, 2.2
ROW_NAME = 1.3
PATCH, MOST_PATCHES = 0.38, 32


def figure(sheet: Sheet, look: Look = PAPER) -> Figure:
    """Draw a sheet. The figure has its own size; save it with its own `savefig`, or with `save`."""
    plan = _plan(sheet, look)
    canvas = Canvas(plan.width)
    y = MARGIN
    if plan.title:
        y += canvas.text(MARGIN, y, plan.title, TITLE, weight="bold") + GAP
    if plan.beside is not None and plan.beside.place == "above":
        for left, pixels in zip(plan.lefts, plan.beside.pictures, strict=True):
            canvas.picture(left, y, *plan.fit(pixels), pixels)
        y += plan.tall + GAP
    y = _headings(canvas, plan, sheet, y)
    shown = plan.beside.pictures if plan.beside and plan.beside.place == "left" else ()
    for index, cells in enumerate(sheet.cells):
        name = plan.names[index]
        canvas.text(MARGIN, y + plan.tall / 2, name, HEADING, weight="bold", down="center")
        if index < len(shown):
            canvas.picture(plan.start, y, *plan.fit(shown[index]), shown[index])
        y = _row(canvas, plan, cells, look, y)
    return canvas.figure(_bar(canvas, plan, look, y) + MARGIN)


@dataclass(frozen=True)
class _Plan:
    """The widths of a figure, and the texts that decide them."""

    width: float
    side: float
    tall: float
    start: float
    lefts: tuple[float, ...]
    title: list[str]
    names: list[list[str]]
    beside: Aside | None
    ends: Mapping[Hashable, Limits]
    part: str

    def fit(self, pixels: Pixels) -> tuple[float, float]:
        """The size of a picture within a cell."""
        return fitted(self.side, self.tall, pixels)


def _plan(sheet: Sheet, look: Look) -> _Plan:
    beside = aside(sheet)
    before = beside is not None and beside.place == "left"
    side, tall = _size(sheet, look, len(sheet.columns) + before)
    single = len(sheet.rows) == 1
    names = [[] if single else wrap(r, ROW_NAME * POINTS, HEADING, 4, "bold") for r in sheet.rows]
    widest = max((width(line, HEADING, "bold") for name in names for line in name), default=0.0)
    start = MARGIN + (widest / POINTS + GAP if widest else 0.0)
    first = start + (side + GAP if before else 0.0)
    lefts = tuple(first + column * (side + GAP) for column in range(len(sheet.columns)))
    total = max(lefts[-1] + side, start + BAR_WIDTH) + MARGIN
    room = (total - 2 * MARGIN) * POINTS
    return _Plan(
        width=total,
        side=side,
        tall=tall,
        start=start,
        lefts=lefts,
        title=wrap(sheet.rows[0], room, TITLE, 3, "bold") if single else [],
        names=names,
        beside=beside,
        ends=sheet.limits(look.how),
        part=sheet.part,
    )


def _size(sheet: Sheet, look: Look, columns: int) -> tuple[float, float]:
    """Width and height of a map: its picture's proportions, with room for values if asked for."""
    side = min(3.2, max(1.5, 7.0 / columns))
    cells = sheet.every()
    if look.values:
        most = max(max(cell.map.shape) for cell in cells)
        if most > MOST_PATCHES:
            raise InputError(
                f"values are drawn on at most {MOST_PATCHES} patches a side; the map has {most}: "
                "save it as .html and point at a patch to read its value"
            )
        side = max(side, PATCH * most)
    shapes = [cell.map.shape if cell.picture is None else cell.picture.shape for cell in cells]
    return side, side * max(shape[0] / shape[1] for shape in shapes)


def _headings(canvas: Canvas, plan: _Plan, sheet: Sheet, y: float) -> float:
    """The columns' names, standing on the maps."""
    headings = [wrap(name, plan.side * POINTS, HEADING, 3) for name in sheet.columns]
    y += height(max(len(lines) for lines in headings), HEADING) / POINTS
    baseline = y - 0.25 * HEADING / POINTS
    for left, lines in zip(plan.lefts, headings, strict=True):
        canvas.text(left, baseline, lines, HEADING, down="baseline")
    if plan.beside is not None and plan.beside.place == "left":
        canvas.text(plan.start, baseline, ["picture"], HEADING, QUIET, down="baseline")
    return y + CLOSE


def _row(canvas: Canvas, plan: _Plan, cells: tuple[Cell, ...], look: Look, y: float) -> float:
    """Maps, the words below them, their deletion curves; where the next row begins."""
    below = y + plan.tall + CLOSE
    texts = 0.0
    for left, cell in zip(plan.lefts, cells, strict=True):
        pixels = overlay(cell.map, cell.picture, look.how, look.opacity, plan.ends[cell.scale])
        canvas.picture(left, y, *plan.fit(pixels), pixels)
        words = caption(cell, plan.ends, look.how)
        if look.values:
            words += patch_values(canvas, left, y, *plan.fit(pixels), cell.map, pixels)
        room = plan.side * POINTS
        lines = [line for sentence in words for line in wrap(sentence, room, CAPTION, 4)]
        texts = max(texts, canvas.text(left, below, lines, CAPTION, QUIET))
    below += texts
    curves = [(left, c.deletion) for left, c in zip(plan.lefts, cells, strict=True) if c.deletion]
    for left, points in curves:
        canvas.curve(left, below + CLOSE, plan.side, SPARK, points)
    return below + (CLOSE + SPARK if curves else 0.0) + GAP


def _bar(canvas: Canvas, plan: _Plan, look: Look, y: float) -> float:
    """The colour bar, its ticks and what they count; where it ends."""
    words = legend(plan.ends, look.how, plan.part)
    y += CLOSE
    canvas.picture(plan.start, y, BAR_WIDTH, BAR, colours(look.how)[None])
    y += BAR + CLOSE
    low, middle, high = words.ticks
    taken = canvas.text(plan.start, y, [low], CAPTION)
    canvas.text(plan.start + BAR_WIDTH, y, [high], CAPTION, across="right")
    room = BAR_WIDTH * POINTS / 2 - max(width(low, CAPTION), width(high, CAPTION))
    if width(middle, CAPTION) / 2 + CAPTION / 2 < room:
        canvas.text(plan.start + BAR_WIDTH / 2, y, [middle], CAPTION, across="center")
    y += taken + CLOSE / 2
    title = wrap(words.title, (plan.width - MARGIN - plan.start) * POINTS, CAPTION, 5)
    return y + canvas.text(plan.start, y, title, CAPTION, QUIET)
