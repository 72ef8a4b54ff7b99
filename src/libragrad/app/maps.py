"""The maps as HTML: methods × targets, the plain gradient's map beside LibraGrad's in each.

Where the pointer is, which patches are marked, and how far the slider uncovers the plain map is the
browser's own business: `maps.js` and `maps.css`.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from html import escape

from torch import Tensor

from libragrad.app.comparison import Comparison, drawn
from libragrad.app.curve import curve
from libragrad.app.session import Session
from libragrad.picture.colour import colours
from libragrad.picture.encode import data_address, palette_png, png
from libragrad.picture.legend import caption, legend
from libragrad.picture.recipe import Limits, Recipe, find_recipe, positions
from libragrad.picture.sheet import Cell, Sheet

__all__ = ["maps"]


def maps(session: Session, recipe: str, scale: str) -> str:
    """What was answered so far, after the picture as the model sees it."""
    picture = session.seen.shown[0].permute(1, 2, 0).mul(255).round().byte().numpy()
    how, figures, bar, columns = find_recipe(recipe), list[str](), "", 1
    if session.comparisons and session.question is not None:
        sheet = drawn(session.comparisons, scale, session.question.output)
        look = _Look(how, sheet.limits(how), (picture.shape[0], picture.shape[1]))
        figures = [_figure(pair, look) for pair in _pairs(session.comparisons, sheet)]
        bar = _legend(look)
        columns = len(sheet.rows) if len(sheet.rows) > 1 else len(session.comparisons)
    rows, across = session.witness.masker.forward.layout.grid
    style = f"--photo: url({data_address(png(picture))}); --columns: {columns}"
    shape = f"--aspect: {picture.shape[1]} / {picture.shape[0]}"
    return (
        f'<div class="maps" data-rows="{rows}" data-columns="{across}" '
        f'data-deleted="{" ".join(map(str, session.deleted))}" style="{style}; {shape}">'
        f'{bar}<div class="beside">{_photo(session.seen.name)}'
        f'<div class="grid">{"".join(figures)}</div></div></div>'
    )


@dataclass(frozen=True)
class _Look:
    """How all maps of the page are drawn."""

    recipe: Recipe
    ends: Mapping[Hashable, Limits]
    size: tuple[int, int]

    def address(self, cell: Cell) -> str:
        """The map in colours, as an address that holds it."""
        where = positions(cell.map[None], self.size, self.recipe, self.ends[cell.scale])[0]
        return data_address(palette_png(where, self.recipe))


@dataclass(frozen=True)
class _Pair:
    """A map before and after LibraGrad; methods that it does not change have no before."""

    before: Cell | None
    after: Cell


def _pairs(comparisons: tuple[Comparison, ...], sheet: Sheet) -> Iterator[_Pair]:
    """Method by method, and target by target in each."""
    columns = dict(zip(sheet.columns, zip(*sheet.cells, strict=True), strict=True))
    for comparison in comparisons:
        after = columns[comparison.after.name]
        before = columns[comparison.before.name] if comparison.before else [None] * len(after)
        for was, now in zip(before, after, strict=True):
            yield _Pair(was, now)


def _photo(name: str) -> str:
    return (
        f'<figure class="seen"><figcaption><h3>What the model sees</h3><p>{escape(name)}</p>'
        '</figcaption><div class="stage" tabindex="0" role="application" '
        f'aria-label="{escape(name)}; arrow keys choose a patch, Enter deletes it"></div>'
        "<output></output></figure>"
    )


def _figure(pair: _Pair, look: _Look) -> str:
    now, was = pair.after, pair.before
    layers = f'<img class="layer after" alt="" src="{look.address(now)}">'
    values = f"data-after='{_values(now.map)}'"
    if was is not None:
        layers = f'<img class="layer before" alt="" src="{look.address(was)}">{layers}<hr>'
        values += f" data-before='{_values(was.map)}'"
    spoken = f"{now.method}, {now.target}; arrow keys read patches, Enter deletes one"
    return (
        f'<figure class="{"both" if was else "alone"}" {values}>'
        f"<figcaption><h3>{escape(now.target)}</h3><p>{escape(now.method)}</p></figcaption>"
        f'<div class="stage" tabindex="0" role="application" aria-label="{escape(spoken)}">'
        f"{layers}</div><output></output>{_words(pair, look)}</figure>"
    )


def _words(pair: _Pair, look: _Look) -> str:
    """The account of the map, and of the plain one, and the curves of both."""
    now, was = pair.after, pair.before
    lines = [f"<p>{escape(_said(now, look))}</p>"]
    if was is not None:
        lines.append(f'<p class="plain">Plain: {escape(_said(was, look))}</p>')
    if now.deletion:
        lines.append(curve(now.deletion, was.deletion if was else ()))
    return f'<div class="words">{"".join(lines)}</div>'


def _said(cell: Cell, look: _Look) -> str:
    words = caption(cell, look.ends, look.recipe)
    return "; ".join(words[:-1] if cell.deletion else words).replace(" %", "\N{NO-BREAK SPACE}%")


def _legend(look: _Look) -> str:
    words = legend(look.ends, look.recipe)
    ticks = "".join(f"<span>{escape(tick)}</span>" for tick in words.ticks)
    bar = data_address(png(colours(look.recipe)[None]))
    return (
        f'<div class="legend"><img src="{bar}" alt=""><div class="ticks">{ticks}</div>'
        f"<p>{escape(words.title)}</p></div>"
    )


def _values(attribution: Tensor) -> str:
    """The values to six digits, as JSON."""
    rows = attribution.detach().double().cpu().tolist()
    return json.dumps([[float(f"{value:.6g}") for value in row] for row in rows])
