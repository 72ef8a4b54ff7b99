"""ImageNet-1k validation: 50,000 photographs of 1,000 classes, in the layouts it comes in.

Russakovsky et al., ImageNet Large Scale Visual Recognition Challenge, IJCV 2015, arXiv:1409.0575.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from libragrad.data.dataset import Dataset
from libragrad.data.hub import fetch
from libragrad.data.listing import lines, pictures_below
from libragrad.data.parquet import rows, shards
from libragrad.data.record import PictureFile, Record, faulty
from libragrad.data.tsv import DEFAULT_FILE, tsv
from libragrad.errors import DataError

NAME = "imagenet"
HUB = "ILSVRC/imagenet-1k"
TRUTH = "ILSVRC2012_validation_ground_truth.txt"

_WNID = re.compile(r"n\d{8}")
_STEM = re.compile(r"ILSVRC2012_val_\d{8}")
_IMAGES = ("", "val", "validation", "ILSVRC2012_img_val")
_DEVKIT = ("", "data", "ILSVRC2012_devkit_t12/data")


def imagenet(root: Path | None = None) -> Dataset:
    """ImageNet-1k validation below `root`, or from the hub without one.

        root[/val]/n01440764/ILSVRC2012_val_00000293.JPEG           folders named by WordNet id
        root[/val]/ILSVRC2012_val_00000001.JPEG, and the devkit     flat, as published
        root[/data]/validation-00000-of-00014.parquet               as on the hub
        root/labels.tsv, of columns file and class_index            a part of it, as a table

    Labels are the positions of the WordNet ids in alphabetical order, as all models have them.
    An id is the picture's number, `ILSVRC2012_val_00000293`, in every layout, so that a sample of
    one is the sample of the others. Pixels are as stored: what is published was measured so.
    """
    folder = fetch(HUB, "validation") if root is None else root
    if not folder.is_dir():
        raise DataError(f"{NAME} was looked for in {folder}, which is no folder: check the path")
    return Dataset(NAME, tuple(_records(folder)), wnids())


def _records(folder: Path) -> Iterator[Record]:
    """The records of whichever layout is there."""
    places = [folder / at for at in _IMAGES]
    classes = [path for place in places for path in place.glob("n????????") if path.is_dir()]
    devkit = next((folder / at for at in _DEVKIT if (folder / at / TRUTH).is_file()), None)
    if parts := shards(folder, "validation"):
        return _from_rows(parts)
    if (folder / DEFAULT_FILE).is_file():
        return map(_numbered, tsv(folder, upright=False))
    if classes:
        return chain.from_iterable(map(_class_folder, classes))
    if devkit is not None:
        return _flat(folder, devkit)
    raise DataError(
        f"{folder} holds no ImageNet validation set: no validation-*.parquet, no {DEFAULT_FILE}, "
        f"no {TRUTH}, and no folders named by WordNet ids, such as n01440764"
    )


@cache
def wnids() -> tuple[str, ...]:
    """The WordNet ids of the 1,000 classes; a label is the position in it.

    >>> wnids()[340]  # zebra
    'n02391049'
    """
    text = files("libragrad.data").joinpath("imagenet_wnids.txt").read_text(encoding="ascii")
    return tuple(text.split())


@cache
def labels_by_wnid() -> Mapping[str, int]:
    """The label of each WordNet id."""
    return {wnid: label for label, wnid in enumerate(wnids())}


def picture_id(name: str) -> str:
    """The picture's number within a file name, whatever is put before or after it.

    >>> picture_id("val/ILSVRC2012_val_00000293_n01440764.JPEG")
    'ILSVRC2012_val_00000293'
    """
    found = _STEM.search(name)
    return found[0] if found else Path(name).stem


def _numbered(record: Record) -> Record:
    return replace(record, id=picture_id(record.id))


def _class_folder(folder: Path) -> Iterator[Record]:
    label = labels_by_wnid().get(folder.name)
    for path in pictures_below(folder):
        name = picture_id(path.name)
        if label is None:
            yield faulty(name, f"{path}: {folder.name} is none of the 1,000 classes")
        else:
            yield Record(name, (label,), PictureFile(path))


def _flat(folder: Path, devkit: Path) -> Iterator[Record]:
    """Line k of the ground truth is the devkit's own number of the class of picture k."""
    places = [folder / at for at in _IMAGES]
    images = next((p for p in places if any(p.glob("ILSVRC2012_val_*.JPEG"))), folder)
    wnid_of = _devkit_classes(devkit)
    for number, line in lines(devkit / TRUTH):
        name = f"ILSVRC2012_val_{number:08d}"
        label = labels_by_wnid().get(wnid_of.get(line.strip(), ""))
        if label is None:
            yield faulty(name, f"{devkit / TRUTH}, line {number}: {line!r} is no class's number")
        else:
            yield Record(name, (label,), PictureFile(images / f"{name}.JPEG"))


def _devkit_classes(devkit: Path) -> Mapping[str, str]:
    """The WordNet id of each of the devkit's own numbers, which are in no useful order."""
    path = devkit / "meta.mat"
    if not path.is_file():
        raise DataError(f"{path} does not exist, and it says what the numbers in {TRUTH} mean")
    try:
        from scipy.io import loadmat
    except ImportError as error:
        raise DataError(
            f"{path} is read with scipy: pip install 'libragrad[evaluation]'"
        ) from error
    try:
        synsets: Any = loadmat(str(path), squeeze_me=True, struct_as_record=False)["synsets"]
        return {str(s.ILSVRC2012_ID): str(s.WNID) for s in synsets}
    except Exception as error:  # whatever a broken file makes of it
        raise DataError(f"{path} is no sound devkit ({error}): get it again") from error


def _from_rows(parts: list[Path]) -> Iterator[Record]:
    for row in rows(parts, ["label"]):
        if isinstance(row, Record):
            yield row
            continue
        name = picture_id(row.values["path"]) if row.values["path"] else row.place
        label = row.values["label"]
        if label is None or not 0 <= label < len(wnids()):
            yield faulty(name, f"{name}: the label {label} is none of the 1,000 classes")
        else:
            yield Record(name, (label,), row.source)
