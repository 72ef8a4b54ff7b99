"""What the colours mean: the ticks of the colour bar and the words below a map."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from libragrad.picture.numeral import numeral
from libragrad.picture.recipe import Limits, Recipe
from libragrad.picture.sheet import Cell

__all__ = ["Legend", "caption", "legend", "one_scale"]


class Legend(NamedTuple):
    """The texts at the start, the middle and the end of a colour bar, and what they count."""

    ticks: tuple[str, str, str]
    title: str


def legend(ends: Mapping[Hashable, Limits], recipe: Recipe, part: str = "patch") -> Legend:
    """Real values if all maps share their limits, else shares of the limits named at each map.

    >>> from libragrad.picture.recipe import RECIPES
    >>> legend({"all": Limits(0.0, 0.42)}, RECIPES["paper"])
    Legend(ticks=('0', '0.21', '≥ 0.42'), title='attribution of each patch')
    >>> legend({"a": Limits(-1.0, 1.0), "b": Limits(-2.0, 2.0)}, RECIPES["signed"]).ticks
    ('≤ −100 %', '0 %', '≥ 100 %')
    """
    if one_scale(ends):
        low, high = next(iter(ends.values()))
        values = (low, (low + high) / 2, high)
        ticks = [numeral(value) for value in values]
        title = f"attribution of each {part}"
    else:
        values = (-1.0, 0.0, 1.0) if recipe.diverging else (0.0, 0.5, 1.0)
        ticks = [f"{numeral(100 * value)} %" for value in values]
        title = f"attribution of each {part}, relative to the value named below its map"
    if recipe.clips and values[2] > 0:
        ticks[2] = f"≥ {ticks[2]}"
        ticks[0] = f"≤ {ticks[0]}" if recipe.diverging else ticks[0]
    return Legend((ticks[0], ticks[1], ticks[2]), title)


def one_scale(ends: Mapping[Hashable, Limits]) -> bool:
    """Whether one scale of real values serves all maps."""
    return len(set(ends.values())) == 1


def caption(cell: Cell, ends: Mapping[Hashable, Limits], recipe: Recipe) -> list[str]:
    """What is said below a map, one sentence each: account, colour scale, deletion."""
    words = [cell.account]
    if not one_scale(ends):
        low, high = ends[cell.scale]
        start = "" if recipe.clips else f"0 % = {numeral(low)}, "
        words.append(f"{start}100 % = {numeral(high)}")
    if cell.deletion:
        words.append(f"deletion {numeral(cell.deletion[0])} → {numeral(cell.deletion[-1])}")
    return words
