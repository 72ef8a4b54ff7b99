"""A score: a number of the tables, and how it comes out of a cell's rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from libragrad.metrics import METRICS, Metric, mean_area, trapezoid_area
from libragrad.metrics.area import Area
from libragrad.metrics.curves import agreement, drop

__all__ = ["AREAS", "Score"]

AREAS: Mapping[str, Area] = {"trapezoid": trapezoid_area, "mean": mean_area}
"""From a curve to one number: the paper's printed area, and that of its equation."""

_ACCURACY = ("mif_accuracy", "lif_accuracy", "srg_accuracy")


@dataclass(frozen=True)
class Score:
    """A metric, the labels that predictions are held against, and the area of a curve.

    >>> Score("srg_aopc", "predicted").measurement
    'deletion'
    """

    metric: str
    labels: str = "label"
    area: str = "trapezoid"

    @property
    def definition(self) -> Metric:
        """The metric's row in the table of metrics."""
        return METRICS[self.metric]

    @property
    def measurement(self) -> str:
        """What a cell must measure for this score."""
        inputs = self.definition.takes
        if "attribution" not in inputs:
            return "deletion"
        return "segmentation" if "mask" in inputs else "completeness"

    @property
    def accuracy(self) -> bool:
        """Whether its curve is that of the accuracy, not that of the probability."""
        return self.metric in _ACCURACY

    def per_image(self, rows: pa.Table) -> Tensor:
        """One number for each of a cell's rows; none for images without the label or mask."""
        if self.measurement == "segmentation":
            return _column(rows.filter(rows[self.metric].is_valid()), self.metric)
        if self.measurement == "completeness":
            total, y = _column(rows, "total"), _column(rows, "y")
            return self.definition.per_image(total[:, None], y, _column(rows, "unattributed"))
        rows = self._labelled(rows)
        if not rows.num_rows:
            return torch.empty(0, dtype=torch.float64)
        curves = [self.curve(rows, first) for first in self.definition.takes]
        return self.definition.per_image(*curves, removed_points(rows), AREAS[self.area])

    def curve(self, rows: pa.Table, first: str) -> Tensor:
        """The metric's curve of each row, "most" or "least" influential first."""
        rows = self._labelled(rows)
        curve = rows[first].combine_chunks()
        if self.accuracy:
            reference = "label" if self.labels == "label" else "predicted"
            return agreement(
                _points(pc.struct_field(curve, "prediction")), _column(rows, reference)
            )
        return drop(_points(pc.struct_field(curve, f"{self.labels}_probability")))

    def _labelled(self, rows: pa.Table) -> pa.Table:
        return rows.filter(rows["label"].is_valid()) if self.labels == "label" else rows


def removed_points(rows: pa.Table) -> tuple[float, ...]:
    """The share of tokens deleted at each point, which all rows of a cell have in common."""
    points = {tuple(removed) for removed in rows["removed"].to_pylist()}
    if len(points) != 1:
        raise ValueError(f"the rows of one cell have curves with different points: {points}")
    return points.pop()


def _column(rows: pa.Table, name: str) -> Tensor:
    return torch.from_numpy(np.array(rows[name].combine_chunks()))


def _points(lists: pa.Array) -> Tensor:
    values = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    return torch.from_numpy(np.array(values.flatten())).reshape(len(values), -1)
