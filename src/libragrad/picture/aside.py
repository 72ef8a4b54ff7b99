"""Where the pictures themselves go: each is shown once, before or above its maps."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from libragrad.picture.colour import Pixels
from libragrad.picture.sheet import Sheet

__all__ = ["Aside", "aside"]


class Aside(NamedTuple):
    """The pictures of a sheet, in a column before its maps or in a row above them."""

    place: Literal["left", "above"]
    pictures: tuple[Pixels, ...]


def aside(sheet: Sheet) -> Aside | None:
    """The pictures to show once: the one of all maps, one for each row, or one for each column."""
    pictures = [[cell.picture for cell in row] for row in sheet.cells]
    by_row = [row[0] for row in pictures if row[0] is not None and _same(row)]
    across = [list(column) for column in zip(*pictures, strict=True)]
    by_column = [column[0] for column in across if column[0] is not None and _same(column)]
    if len(by_row) == len(pictures):
        return Aside("left", tuple(by_row[:1] if _same(list(by_row)) else by_row))
    if len(by_column) == len(across):
        return Aside("above", tuple(by_column))
    return None


def _same(pictures: list[Pixels | None]) -> bool:
    first = pictures[0]
    return all(
        other is not None and first is not None and np.array_equal(first, other)
        for other in pictures[1:]
    )
