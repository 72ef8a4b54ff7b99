"""A sheet of maps: what is drawn where, and which maps share one colour scale."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
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
"""The points of a deletion curve for each explanation and each of its targets."""

SCALES: Mapping[str, Callable[[int, int], Hashable]] = MappingProxyType(
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
    scale: Hashable


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

    `scale` names the maps that share their limits (see `SCALES`): the paper gives each "map" its
    own; one "method" has one unit, so its targets can be compared; "all" makes one scale of the
    values themselves. `deletion` holds the points of the curve of each explanation and target, and
    `of` is what is explained.
    """
    if not explanations:
        raise InputError("there is no explanation to draw")
    key, labels = choose("scale", scale, SCALES), explanations[0].labels
    columns = []
    for method, explanation in enumerate(explanations):
        if explanation.labels != labels:
            raise InputError(
                "the explanations of a sheet have the same targets; "
                f"got {', '.join(labels)} and {', '.join(explanation.labels)}"
            )
        points = deletion[method] if deletion is not None else [()] * len(labels)
        columns.append(
            _cells(explanation, points, [key(method, t) for t in range(len(labels))], of)
        )
    names = tuple(explanation.name for explanation in explanations)
    if rows == "methods":
        return Sheet(cells=tuple(columns), rows=names, columns=labels)
    return Sheet(cells=tuple(zip(*columns, strict=True)), rows=labels, columns=names)


def before_after(
    plain: Explained,
    libra: Explained,
    scale: str = "method",
    deletion: Deletion | None = None,
    of: str = "logit",
) -> Sheet:
    """A row for each target: the map of the plain gradient beside that of LibraGrad."""
    return sheet([plain, libra], "targets", scale, deletion, of)


def _cells(
    explanation: Explained, deletion: Sequence[Sequence[float]], scales: list[Hashable], of: str
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
        explanation.unattributed.tolist(),
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
            scale=scales[i],
        )
        for i, (error, output, outside) in enumerate(numbers)
    )


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
