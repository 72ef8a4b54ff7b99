"""ImageNet-Hard: 10,980 photographs on which the classifiers of ImageNet fail.

Taesiri et al., ImageNet-Hard: The Hardest Images Remaining from a Study of the Power of Zoom and
Spatial Biases in Image Classification, NeurIPS 2023, arXiv:2304.05538.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from libragrad.data.dataset import Dataset
from libragrad.data.hub import fetch
from libragrad.data.imagenet import wnids
from libragrad.data.parquet import rows, shards
from libragrad.data.record import Record, faulty
from libragrad.errors import DataError

NAME = "imagenet-hard"
HUB = "taesiri/imagenet-hard"


def imagenet_hard(root: Path | None = None) -> Dataset:
    """ImageNet-Hard in the hub's layout below `root`, or from the hub without one.

        root[/data]/validation-00000-of-00009.parquet, with a list of labels a picture

    The first label is the main one, as in the paper. Several pictures come from sets whose own
    names repeat, so an id is the row: `validation-00000-of-00009/00042`.
    """
    folder = fetch(HUB, "validation") if root is None else root
    parts = shards(folder, "validation")
    if not parts:
        raise DataError(f"{folder} holds no {NAME}: no validation-*.parquet in it or in its data")
    return Dataset(NAME, tuple(_records(parts)), wnids())


def _records(parts: list[Path]) -> Iterator[Record]:
    for row in rows(parts, ["label"]):
        if isinstance(row, Record):
            yield row
            continue
        labels = tuple(row.values["label"] or ())
        if not labels or not all(0 <= label < len(wnids()) for label in labels):
            reason = f"{row.place}: the labels {labels} are none of the 1,000 classes"
            yield faulty(row.place, reason)
        else:
            yield Record(row.place, labels, row.source)
