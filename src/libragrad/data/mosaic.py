"""The built-in mosaics: four garments a picture, and where each of them is."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from libragrad.data.dataset import Dataset
from libragrad.data.record import BACKGROUND, Pixels, Record, RegionArray
from libragrad.errors import DataError
from libragrad.models.mosaic.data import CELL, EMPTY, mosaic_images
from libragrad.models.mosaic.vit import LABELS

NAME = "builtin:mosaic"


def mosaic(root: Path | None = None) -> Dataset:
    """The held-out mosaics; a class map holds the garments' own pixels.

    >>> record = mosaic()[0]
    >>> record.id, len(record.labels), record.picture().size
    ('mosaic-000', 4, (64, 64))
    """
    return _mosaics(root, NAME, objects=True)


def mosaic_cells(root: Path | None = None) -> Dataset:
    """The held-out mosaics; a class map holds the whole cells.

    >>> mosaic_cells()[0].class_map()[::32, ::32].tolist() == [
    ...     list(mosaic_cells()[0].labels[:2]),
    ...     list(mosaic_cells()[0].labels[2:]),
    ... ]
    True
    """
    return _mosaics(root, f"{NAME}-cells", objects=False)


def _mosaics(root: Path | None, name: str, *, objects: bool) -> Dataset:
    if root is not None:
        raise DataError(f"{name} comes with the package: leave out the path {root}")
    data = mosaic_images()
    cells = data.cells.repeat(CELL, axis=1).repeat(CELL, axis=2)
    held = data.objects if objects else cells != EMPTY
    maps = np.where(held, cells, BACKGROUND).astype(np.int32)
    return Dataset(
        name,
        tuple(
            Record(
                f"mosaic-{index:03d}",
                tuple(int(label) for label in data.cells[index].flat if label != EMPTY),
                Pixels(data.images[index]),
                RegionArray(maps[index]),
            )
            for index in range(len(data))
        ),
        LABELS,
    )
