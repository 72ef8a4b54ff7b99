"""A folder of pictures: a folder a class, or just pictures."""

from __future__ import annotations

from pathlib import Path

from libragrad.data.dataset import Dataset
from libragrad.data.listing import pictures_below, relative_id
from libragrad.data.record import PictureFile, Record
from libragrad.errors import DataError

NAME = "image-folder"


def image_folder(root: Path | None) -> Dataset:
    """Pictures below `root`; the folders right below it are the classes, in alphabetical order.

        root/cat/1.jpg      root/cat/more/2.jpg     root/dog/1.png      one label each
        root/1.jpg                                                      no label

    Pictures are turned as their EXIF orientation says.
    """
    if root is None or not root.is_dir():
        raise DataError(f"{NAME} reads the pictures of a folder, and {root} is none: give its path")
    paths = pictures_below(root)
    if not paths:
        raise DataError(f"{root} holds no picture: no file whose name ends as a picture's does")
    classes = sorted({_class(path, root) for path in paths} - {""})
    label = {name: (index,) for index, name in enumerate(classes)}
    records = tuple(
        Record(
            relative_id(path, root),
            label.get(_class(path, root), ()),
            PictureFile(path, upright=True),
        )
        for path in paths
    )
    return Dataset(NAME, records, tuple(classes) or None)


def _class(path: Path, root: Path) -> str:
    parts = path.relative_to(root).parts
    return parts[0] if len(parts) > 1 else ""
