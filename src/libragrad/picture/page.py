"""A sheet as one HTML file that asks the network for nothing.

Point at a patch, touch it, or walk with the arrow keys, and its value is read; a slider sets the
opacity of the colours, and a switch shows what is against the target too. The values are in the
page as numbers, and as a table for whoever does not see the picture.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from torch import Tensor

from libragrad.picture.aside import aside
from libragrad.picture.colour import Pixels, colours, natural_size
from libragrad.picture.document import document, resource
from libragrad.picture.encode import data_address, palette_png, png
from libragrad.picture.legend import caption, legend
from libragrad.picture.look import PAPER, Look
from libragrad.picture.numeral import numeral
from libragrad.picture.recipe import RECIPES, Limits, Recipe, positions
from libragrad.picture.sheet import Cell, Sheet

__all__ = ["page"]


def page(sheet: Sheet, look: Look = PAPER) -> str:
    """The whole file. The switch is on at first if the look's own recipe is signed."""
    own, signed = look.how, RECIPES["signed"]
    plain = RECIPES["paper"] if own.diverging else own
    views = (
        _View("plain", plain, sheet.limits(plain), shown=not own.diverging),
        _View("signed", signed, sheet.limits(signed), shown=own.diverging),
    )
    photos = _Photos()
    sections = _sections(sheet, views, photos)
    title = " · ".join(dict.fromkeys(cell.method for cell in sheet.every()))
    controls = _controls(look, bool(photos.files)) + "".join(
        _legend(view, sheet.part) for view in views
    )
    body = f'<h1>{escape(title)}</h1><div class="controls">{controls}</div>{"".join(sections)}'
    return document(title, body, resource("page.css") + photos.style(), resource("page.js"))


@dataclass(frozen=True)
class _View:
    """One of the two recipes that the switch chooses from."""

    name: str
    recipe: Recipe
    ends: Mapping[Hashable, Limits]
    shown: bool

    @property
    def mark(self) -> str:
        """The attributes of what belongs to this view alone."""
        return f'data-view="{self.name}"{"" if self.shown else " hidden"}'


def _sections(sheet: Sheet, views: Sequence[_View], photos: _Photos) -> list[str]:
    """The rows of the sheet, each picture before or above the first of its maps."""
    beside = aside(sheet)
    pictures = [_photo(pixels, photos) for pixels in beside.pictures] if beside else []
    before = beside is not None and beside.place == "left"
    style = f'class="row" style="--columns: {len(sheet.columns) + before}"'
    sections = []
    if beside is not None and not before:
        sections.append(f"<section><div {style}>{''.join(pictures)}</div></section>")
    for index, (name, cells) in enumerate(zip(sheet.rows, sheet.cells, strict=True)):
        shown = pictures[index] if before and index < len(pictures) else ""
        gap = '<div class="gap"></div>' if before and not shown else ""
        headings = zip(cells, sheet.columns, strict=True)
        maps = "".join(_map(cell, heading, views, photos) for cell, heading in headings)
        title = f"<h2>{escape(name)}</h2>" if len(sheet.rows) > 1 else ""
        sections.append(f"<section>{title}<div {style}>{shown}{gap}{maps}</div></section>")
    return sections


def _controls(look: Look, covering: bool) -> str:
    """The slider, where the colours cover anything, and the switch."""
    checked = " checked" if look.how.diverging else ""
    return (
        f"<label{'' if covering else ' hidden'}>opacity "
        '<input type="range" id="opacity" min="0" max="100" '
        f'value="{round(100 * look.opacity)}"></label>'
        f'<label><input type="checkbox" id="signed"{checked}> signed</label>'
    )


def _legend(view: _View, part: str) -> str:
    """The colour bar."""
    words = legend(view.ends, view.recipe, part)
    low, _, high = words.ticks
    ticks = "".join(f"<span>{escape(tick)}</span>" for tick in words.ticks)
    bar = data_address(png(colours(view.recipe)[None]))
    return (
        f'<div class="legend" {view.mark}><img src="{bar}"'
        f' alt="colours from {escape(low)} to {escape(high)}">'
        f'<div class="ticks">{ticks}</div><p>{escape(words.title)}</p></div>'
    )


class _Photos:
    """The pictures of a page, each in the file once, as the background of a class."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._names: dict[bytes, str] = {}

    def name(self, pixels: Pixels) -> str:
        """The class that shows these pixels."""
        name = self._names.setdefault(pixels.tobytes(), f"photo-{len(self._names)}")
        if name not in self.files:
            self.files[name] = png(pixels)
        return name

    def style(self) -> str:
        return "".join(
            f".{name} {{ background-image: url({data_address(file)}); }}\n"
            for name, file in self.files.items()
        )


def _photo(pixels: Pixels, photos: _Photos) -> str:
    height, width, _ = pixels.shape
    return (
        '<figure><h3>picture</h3><div role="img" aria-label="what the model saw" '
        f'class="stage plain {photos.name(pixels)}" '
        f'style="aspect-ratio: {width} / {height}"></div></figure>'
    )


def _map(cell: Cell, heading: str, views: Sequence[_View], photos: _Photos) -> str:
    rows, columns = cell.map.shape
    size = natural_size(cell.map)
    below = ""
    if cell.picture is not None:
        size = cell.picture.shape[0], cell.picture.shape[1]
        below = f'<div class="photo {photos.name(cell.picture)}"></div>'
    layers = "".join(_layer(cell, size, view) for view in views)
    spoken = f"{rows} × {columns} patches; the arrow keys read their values"
    return (
        f'<figure class="map{"" if below else " bare"}"><h3>{escape(heading)}</h3>'
        '<div><div class="stage" tabindex="0" role="application" '
        f'aria-label="{escape(f"{cell.method}, {cell.target}: {spoken}")}">'
        f'{below}{layers}<div class="cursor" hidden></div></div><output></output>'
        f'<script type="application/json">{_values(cell.map)}</script>'
        f"{_caption(cell, views)}"
        '<details><summary>values</summary><div class="scroll"></div></details></div></figure>'
    )


def _layer(cell: Cell, size: tuple[int, int], view: _View) -> str:
    """The map in colours."""
    where = positions(cell.map[None], size, view.recipe, view.ends[cell.scale])[0]
    address = data_address(palette_png(where, view.recipe))
    top = int(cell.map.argmax())
    row, column = divmod(top, cell.map.shape[1])
    words = (
        f"{cell.method} for {cell.target}, {view.recipe.name}: highest in row {row + 1}, "
        f"column {column + 1}, with {numeral(float(cell.map.flatten()[top]))}"
    )
    return f'<img class="layer" src="{address}" alt="{escape(words)}" {view.mark}>'


def _caption(cell: Cell, views: Sequence[_View]) -> str:
    parts = []
    for view in views:
        said = caption(cell, view.ends, view.recipe)
        lines = [f"<p>{escape(words)}</p>".replace(" %", "&nbsp;%") for words in said]
        parts.append(f"<div {view.mark}>{''.join(lines)}</div>")
    curve = _spark(cell.deletion) if cell.deletion else ""
    return f"<figcaption>{''.join(parts)}{curve}</figcaption>"


def _spark(points: Sequence[float]) -> str:
    """The deletion curve on a baseline of 0."""
    low, high = min(0.0, *points), max(0.0, *points)
    span = (high - low) or 1.0
    step = 100 / max(1, len(points) - 1)
    marks = [f"{i * step:.2f},{30 * (high - p) / span:.2f}" for i, p in enumerate(points)]
    floor = f"{30 * high / span:.2f}"
    return (
        '<svg class="spark" viewBox="0 -1 100 32" preserveAspectRatio="none" aria-hidden="true">'
        f'<path d="M0,{floor} L{" L".join(marks)} L100,{floor} Z"></path>'
        f'<polyline points="{" ".join(marks)}"></polyline></svg>'
    )


def _values(attribution: Tensor) -> str:
    """The values to six digits, as JSON."""
    rows = attribution.detach().double().cpu().tolist()
    return json.dumps([[float(f"{value:.6g}") for value in row] for row in rows])
