"""The ± of a table: three kinds, each named for what it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

import pyarrow as pa

from libragrad.evaluation.score import Score, removed_points
from libragrad.metrics import (
    accuracy_variance,
    area_upper_bound,
    bootstrap_interval,
    fold_variance,
    srg_upper_bound,
)

__all__ = ["UNCERTAINTIES", "Uncertainty", "find_uncertainty"]


@dataclass(frozen=True)
class Uncertainty:
    """A kind of ±.

    Attributes:
        name: the key in the table of kinds.
        summary: what stands below a table.
        of: from a score and the rows of a cell to the ±, in the unit of the rows.
    """

    name: str
    summary: str
    of: Callable[[Score, pa.Table], float]


def _standard(score: Score, rows: pa.Table) -> float:
    return score.definition.aggregate(score.per_image(rows)).standard_error / score.definition.scale


def _bootstrap(score: Score, rows: pa.Table) -> float:
    low, high = bootstrap_interval(score.per_image(rows))
    return (high - low) / 2


def _paper_bound(score: Score, rows: pa.Table) -> float:
    """What has no curve has the standard error in the paper too."""
    if score.measurement != "deletion":
        return _standard(score, rows)
    if score.area != "trapezoid":
        return math.nan
    bounds = []
    for first in score.definition.takes:
        curves = score.curve(rows, first)
        if score.accuracy:
            variance = accuracy_variance(curves)
        elif len(curves) >= 10:
            variance = fold_variance(curves)
        else:
            return math.nan
        bounds.append(area_upper_bound(variance, removed_points(rows)))
    return bounds[0] if len(bounds) == 1 else srg_upper_bound(*bounds)


_ROWS = (
    Uncertainty("standard", "±: standard error of the mean", _standard),
    Uncertainty("bootstrap", "±: half of the bootstrap interval of 95 %", _bootstrap),
    Uncertainty("bound", "±: the paper's upper bound of the standard deviation", _paper_bound),
)

UNCERTAINTIES: Mapping[str, Uncertainty] = MappingProxyType({row.name: row for row in _ROWS})
"""Every kind of ± by its name. Read-only."""


def find_uncertainty(name: str) -> Uncertainty:
    """The kind of that name.

    >>> find_uncertainty("bootsrap")
    Traceback (most recent call last):
        ...
    ValueError: no uncertainty 'bootsrap'; did you mean 'bootstrap'?
    """
    if name in UNCERTAINTIES:
        return UNCERTAINTIES[name]
    near = get_close_matches(name, UNCERTAINTIES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(UNCERTAINTIES)}"
    raise ValueError(f"no uncertainty {name!r}; {hint}")
