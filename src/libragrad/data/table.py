"""The table of data sets. To add one: its file, a row here, a row in the test cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from libragrad.data.coco import coco, zebra_and_elephant
from libragrad.data.dataset import Dataset
from libragrad.data.image_folder import image_folder
from libragrad.data.imagenet import imagenet
from libragrad.data.imagenet_hard import imagenet_hard
from libragrad.data.imagenet_s import imagenet_s
from libragrad.data.mosaic import mosaic, mosaic_cells
from libragrad.data.mura import mura
from libragrad.data.oxford_pet import oxford_pet
from libragrad.data.tsv import tsv
from libragrad.errors import DataError


@dataclass(frozen=True)
class DatasetRow:
    """What a reader must know of a data set to use it.

    `path` says which file or folder `load` asks for. `masks`: its records have class maps.
    """

    name: str
    summary: str
    load: Callable[[Path | None], Dataset]
    path: str
    masks: bool = False


_ROWS = (
    DatasetRow(
        name="builtin:mosaic",
        summary="400 pictures of four garments each; the garments' pixels as masks",
        load=mosaic,
        path="none: it comes with the package",
        masks=True,
    ),
    DatasetRow(
        name="builtin:mosaic-cells",
        summary="the same pictures; the garments' whole cells as masks",
        load=mosaic_cells,
        path="none: it comes with the package",
        masks=True,
    ),
    DatasetRow(
        name="image-folder",
        summary="your pictures, in a folder a class or without labels",
        load=image_folder,
        path="the folder",
    ),
    DatasetRow(
        name="tsv",
        summary="your pictures, in a table of file and label; trimaps beside it as masks",
        load=tsv,
        path="the table, or the folder of its labels.tsv",
        masks=True,
    ),
    DatasetRow(
        name="imagenet",
        summary="ImageNet-1k validation, 50,000 photographs of 1,000 classes",
        load=imagenet,
        path="the folder; without one it is fetched from the hub",
    ),
    DatasetRow(
        name="imagenet-hard",
        summary="ImageNet-Hard, 10,980 photographs on which classifiers fail",
        load=imagenet_hard,
        path="the folder; without one it is fetched from the hub",
    ),
    DatasetRow(
        name="imagenet-s",
        summary="ImageNet-S validation, a class for each pixel",
        load=imagenet_s,
        path="the folder ImageNetS919",
        masks=True,
    ),
    DatasetRow(
        name="mura",
        summary="MURA validation, X-ray pictures, normal or abnormal",
        load=mura,
        path="the folder MURA-v1.1",
    ),
    DatasetRow(
        name="oxford-pet",
        summary="Oxford-IIIT Pet, test split, 37 breeds, trimaps as masks",
        load=oxford_pet,
        path="the folder of images and annotations",
        masks=True,
    ),
    DatasetRow(
        name="coco",
        summary="COCO val2017, 80 classes, outlines as masks",
        load=coco,
        path="the folder of val2017 and annotations",
        masks=True,
    ),
    DatasetRow(
        name="coco-zebra-elephant",
        summary="the pictures of COCO train2017 with a zebra and an elephant",
        load=zebra_and_elephant,
        path="the folder of train2017 and annotations",
        masks=True,
    ),
)

DATASETS: Mapping[str, DatasetRow] = MappingProxyType({row.name: row for row in _ROWS})
"""Every data set by its name. Read-only."""


def find_dataset(name: str) -> DatasetRow:
    """The row of that name.

    >>> find_dataset("imagenet-s").masks
    True
    >>> find_dataset("imagnet")
    Traceback (most recent call last):
        ...
    libragrad.errors.DataError: no data set 'imagnet'; did you mean 'imagenet'?
    """
    if name in DATASETS:
        return DATASETS[name]
    near = get_close_matches(name, DATASETS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(DATASETS)}"
    raise DataError(f"no data set {name!r}; {hint}")


def load_dataset(name: str, path: str | Path | None = None) -> Dataset:
    """The data set of that name, read from `path`.

    >>> len(load_dataset("builtin:mosaic"))
    400
    """
    return find_dataset(name).load(None if path is None else Path(path))
