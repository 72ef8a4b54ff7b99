"""A sheet of maps: what is drawn where, and which maps share one colour scale."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from libragrad.errors import InputError
from libragrad.picture.account import account
from libragrad.picture.choice import choose
from libragrad.picture.colour import Pixels
from libragrad.picture.explained import Explained
from libragrad.picture.recipe import Limits, Recipe, limits

__all__ = ["SCALES", "Cell", "Deletion", "Sheet", "before_after", "sheet"]

Deletion = Sequence[Sequence[Sequence[float]]]
"""The points of a deletion curve for each explanation and each of its maps."""

SCALES: Mapping[str, Callable[[str, int], Hashable]] = MappingProxyType(
    {
        "map": lambda method, target: (method, target),
        "method": lambda method, target: method,
        "all": lambda method, target: None,
    }
)
"""Which maps share their limits: none; those of a method, which has one unit; all of the sheet."""


@dataclass(frozen=True)
class Cell:
    """One map with its picture and what is said of it."""

    map: Tensor
    picture: Pixels | None
    method: str
    target: str
    account: str
    deletion: tuple[float, ...]
    scale: Hashable = None


@dataclass(frozen=True)
class Sheet:
    """Rows of cells, all rows equally long. Its headings are those of rows and columns."""

    cells: tuple[tuple[Cell, ...], ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    def limits(self, recipe: Recipe) -> Mapping[Hashable, Limits]:
        """The ends of the colour scales, by the `scale` of their cells."""
        maps: dict[Hashable, list[Tensor]] = {}
        for cell in self.every():
            maps.setdefault(cell.scale, []).append(cell.map.detach().cpu().flatten())
        return {scale: limits(torch.cat(those), recipe) for scale, those in maps.items()}

    @property
    def part(self) -> str:
        """What a value belongs to: a pixel where the map is as fine as its picture."""
        shapes = [(tuple(c.map.shape), c.picture) for c in self.every()]
        fine = all(p is not None and shape == p.shape[:2] for shape, p in shapes)
        return "pixel" if fine else "patch"

    def every(self) -> list[Cell]:
        """The cells, row by row."""
        return [cell for row in self.cells for cell in row]


def sheet(
    explanations: Sequence[Explained],
    rows: Literal["methods", "targets"] = "methods",
    scale: str = "method",
    deletion: Deletion | None = None,
    of: str = "logit",
) -> Sheet:
    """Methods × targets, or targets × methods.

    Explanations of one name belong to one method: their maps follow each other.
    `scale` names the maps that share their limits (see `SCALES`): the paper gives each "map" its
    own; one "method" has one unit, so its targets can be compared; "all" makes one scale of the
    values themselves. `deletion` holds the points of the curve of each explanation and target, and
    `of` is what is explained.
    """
    if not explanations:
        raise InputError("there is no explanation to draw")
    if deletion is not None and len(deletion) != len(explanations):
        raise InputError(f"{len(deletion)} lists of curves for {len(explanations)} explanations")
    key, methods = choose("scale", scale, SCALES), dict[str, list[Cell]]()
    for index, explanation in enumerate(explanations):
        cells = methods.setdefault(explanation.name, [])
        curves = deletion[index] if deletion is not None else [()] * len(explanation.labels)
        for cell in _cells(explanation, curves, of):
            cells.append(replace(cell, scale=key(cell.method, len(cells))))
    names, labels = tuple(methods), [tuple(c.target for c in row) for row in methods.values()]
    for name, others in zip(names, labels, strict=True):
        if others != labels[0]:
            raise InputError(
                f"all methods of a sheet explain the same targets; {names[0]} explains "
                f"{', '.join(labels[0])} and {name} {', '.join(others)}"
            )
    if rows == "methods":
        return Sheet(cells=tuple(map(tuple, methods.values())), rows=names, columns=labels[0])
    return Sheet(cells=tuple(zip(*methods.values(), strict=True)), rows=labels[0], columns=names)


def before_after(
    plain: Explained,
    libra: Explained,
    scale: str = "method",
    deletion: Deletion | None = None,
    of: str = "logit",
) -> Sheet:
    """A row for each target: the map of the plain gradient beside that of LibraGrad."""
    if plain.name == libra.name:
        raise InputError(f"before and after cannot be told apart: both are named {plain.name!r}")
    return sheet([plain, libra], "targets", scale, deletion, of)


def _cells(
    explanation: Explained, deletion: Sequence[Sequence[float]], of: str
) -> tuple[Cell, ...]:
    maps, labels = explanation.map, explanation.labels
    if maps.ndim != 3 or len(maps) != len(labels) or len(deletion) != len(labels):
        raise InputError(
            "expected maps (B, H, W) with a label, and a deletion curve if any, for each; "
            f"got shape {tuple(maps.shape)}, {len(labels)} labels and {len(deletion)} curves"
        )
    pictures = _pixels(explanation.pictures, len(labels))
    numbers = zip(
        explanation.completeness_error.tolist(),
        explanation.output.tolist(),
        _outside(explanation).tolist(),
        strict=True,
    )
    return tuple(
        Cell(
            map=maps[i],
            picture=pictures[i],
            method=explanation.name,
            target=labels[i],
            account=account(error, output, outside, of),
            deletion=tuple(deletion[i]),
        )
        for i, (error, output, outside) in enumerate(numbers)
    )


def _outside(explanation: Explained) -> Tensor:
    """What lies outside the picture, where map and outside are the parts of one sum.

    FullGrad+ counts its input part once a layer: the account behind it balances, but the map is no
    part of the output, and a share of it would mean nothing.
    """
    output, outside = explanation.output, explanation.unattributed
    rest = output - explanation.completeness_error - explanation.map.flatten(1).sum(1) - outside
    return torch.where(rest.abs() <= 1e-3 * output.abs().clamp_min(outside.abs()), outside, 0.0)


def _pixels(pictures: Tensor | None, count: int) -> list[Pixels | None]:
    """Pictures (B, 3, H, W) in [0, 1] as bytes (H, W, 3)."""
    if pictures is None:
        return [None] * count
    if pictures.ndim != 4 or pictures.shape[:2] != (count, 3):
        raise InputError(
            f"expected {count} pictures of shape ({count}, 3, H, W); got {tuple(pictures.shape)}"
        )
    values = pictures.detach().to("cpu", torch.float64)
    if not 0 <= float(values.min()) <= float(values.max()) <= 1:
        raise InputError(
            "pictures are drawn as the model saw them, with values in [0, 1] before its "
            f"normalisation; got {float(values.min()):.3g} to {float(values.max()):.3g}"
        )
    return list(np.round(values.permute(0, 2, 3, 1).numpy() * 255).astype(np.uint8))
