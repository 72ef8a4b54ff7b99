"""A sheet as characters: its maps side by side as far as the room goes, and the rest below."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from libragrad.picture.aside import aside
from libragrad.picture.blocks import beside, columns_of, digits, fold, half_blocks, harmless
from libragrad.picture.colour import Pixels, colours, overlay
from libragrad.picture.legend import caption, legend
from libragrad.picture.look import Look
from libragrad.picture.numeral import plain
from libragrad.picture.sheet import Cell, Sheet

__all__ = ["characters"]

WIDEST, LEAST, GAP = 40, 20, 2


def characters(sheet: Sheet, look: Look, depth: int, columns: int = 80) -> str:
    """The sheet for a terminal of `depth` colours and so many columns.

    With no colours there are no pictures: maps are digits, and symbols are spelled in ASCII.
    """
    shown = aside(sheet) if depth else None
    pictures = shown.pictures if shown else ()
    before = shown is not None and shown.place == "left"
    width = _width(sheet, columns, len(sheet.columns) + before, depth)
    lines: list[str] = []
    if shown is not None and not before:
        lines += _side_by_side([_photo(p, width, depth) for p in pictures], width, columns)
    for index, (name, cells) in enumerate(zip(sheet.rows, sheet.cells, strict=True)):
        blocks = [_photo(p, width, depth) for p in pictures[index : index + 1]] if before else []
        if before and not blocks and _each(width, columns) > len(cells):
            blocks = [[]]  # maps stay below those of the row above
        pairs = zip(cells, sheet.columns, strict=True)
        blocks += [_map(cell, head, sheet, look, depth, width) for cell, head in pairs]
        lines += [*_wrapped(name, columns), "", *_side_by_side(blocks, width, columns)]
    lines += _legend(sheet, look, depth, columns)
    return "\n".join(lines) + "\n"


def _width(sheet: Sheet, columns: int, count: int, depth: int) -> int:
    if not depth:  # two characters a patch
        widest = 2 * max(cell.map.shape[1] for cell in sheet.every())
        return min(columns, max(LEAST, widest))
    return min(columns, max(LEAST, min(WIDEST, (columns + GAP) // count - GAP)))


def _each(width: int, columns: int) -> int:
    """How many blocks of that width fit beside each other."""
    return max(1, (columns + GAP) // (width + GAP))


def _side_by_side(blocks: Sequence[list[str]], width: int, columns: int) -> list[str]:
    """Blocks in as many lines of blocks as the room asks for."""
    each, lines = _each(width, columns), []
    for start in range(0, len(blocks), each):
        part = blocks[start : start + each]
        lines += [*beside(part, [width] * len(part)), ""]
    return lines


def _photo(picture: Pixels, width: int, depth: int) -> list[str]:
    return ["picture", *half_blocks(fold(picture, width), depth)]


def _map(cell: Cell, heading: str, sheet: Sheet, look: Look, depth: int, width: int) -> list[str]:
    """A heading, the map, and what is said of it."""
    ends = sheet.limits(look.how)
    if depth:
        # So few colours cannot tell the scale's from those of a picture below it.
        opacity = look.opacity if depth > 256 else 1.0
        pixels = overlay(cell.map, cell.picture, look.how, opacity, ends[cell.scale])
        drawn = half_blocks(fold(pixels, width), depth)
    else:
        drawn = digits(cell.map, look.how, ends[cell.scale], width)
    said = [words if depth else plain(words) for words in caption(cell, ends, look.how)]
    head = heading if depth else plain(heading)
    return [
        *_wrapped(head, width, lines=1, mark="…" if depth else "..."),
        *drawn,
        *(line for words in said for line in _wrapped(words, width)),
    ]


def _wrapped(text: str, width: int, lines: int | None = None, mark: str = "") -> list[str]:
    """Lines of at most so many columns; those of wide letters are cut as if all were wide."""
    text = harmless(text)
    room = width if columns_of(text) == len(text) else width // 2
    return wrap(text, max(len(mark) + 1, room), max_lines=lines, placeholder=mark)


def _legend(sheet: Sheet, look: Look, depth: int, columns: int) -> list[str]:
    """The colour bar, or what a digit stands for."""
    words = legend(sheet.limits(look.how), look.how, sheet.part)
    low, middle, high = words.ticks
    if not depth:
        ticks = f"9 is {high}, {'-9' if look.how.diverging else '0'} is {low}"
        return _wrapped(plain(f"{ticks}: {words.title}"), columns)
    width = min(columns, 32)
    scale = colours(look.how)
    bar = scale[[round(i * (len(scale) - 1) / max(1, width - 1)) for i in range(width)]]
    ticks = " ".join(words.ticks)
    if len(ticks) < width:
        start = f"{low:<{(width - len(middle)) // 2}}{middle}"
        ticks = f"{start:<{width - len(high)}}{high}"
    return [
        *half_blocks(bar[None], depth),
        *_wrapped(ticks, columns),
        *_wrapped(words.title, columns),
    ]
