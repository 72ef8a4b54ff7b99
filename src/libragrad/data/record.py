"""One picture of a data set with what is known about it, read when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from libragrad.data.picture_file import open_picture
from libragrad.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

ClassMap = NDArray[np.int32]

BACKGROUND = -1
"""In a class map: a pixel of nothing that has a label."""

IGNORED = -2
"""In a class map: a pixel that the annotators left open, such as a border."""


class Source(Protocol):
    """Where a picture comes from."""

    def open(self) -> Image:
        """The picture, or an error that names the file."""


class Regions(Protocol):
    """Where the class map of a picture comes from."""

    def read(self) -> ClassMap:
        """The label of each pixel [H, W], or an error that names the file."""


@dataclass(frozen=True)
class Record:
    """One picture: a stable `id`, its `labels` (the main one first), and how to get the rest.

    Making a record opens no file. What is wrong with a file is said when it is asked for, so one
    broken picture never stops a listing.
    """

    id: str
    labels: tuple[int, ...]
    source: Source = field(repr=False)
    regions: Regions | None = field(default=None, repr=False)

    def picture(self) -> Image:
        """The picture in RGB."""
        return self.source.open()

    def class_map(self) -> ClassMap:
        """The label of each pixel [H, W]; `BACKGROUND` and `IGNORED` are negative."""
        if self.regions is None:
            raise DataError(f"{self.id} has no mask: its data set has none, or lacks this one")
        return self.regions.read()

    def segmented(self) -> tuple[Image, ClassMap]:
        """The picture and its class map, which must have the same size."""
        picture, regions = self.picture(), self.class_map()
        height, width = regions.shape
        if picture.size != (width, height):
            raise DataError(
                f"{self.id} has a picture of {picture.width} × {picture.height} pixels and a mask "
                f"of {width} × {height}: they do not belong together"
            )
        return picture, regions


@dataclass(frozen=True)
class PictureFile:
    """A picture in a file; `upright` turns it as its EXIF orientation says."""

    path: Path
    upright: bool = False

    def open(self) -> Image:
        """The picture in RGB."""
        return open_picture(self.path, upright=self.upright)


@dataclass(frozen=True, eq=False)
class Pixels:
    """A picture that is in memory, [H, W, 3] with 8 bits a channel."""

    array: NDArray[np.uint8]

    def open(self) -> Image:
        """The picture in RGB."""
        from PIL import Image

        return Image.fromarray(self.array)


@dataclass(frozen=True, eq=False)
class RegionArray:
    """A class map that is in memory."""

    array: ClassMap

    def read(self) -> ClassMap:
        """The label of each pixel [H, W]."""
        return self.array.copy()


@dataclass(frozen=True)
class Fault:
    """Stands where a picture should be, and says what is wrong when it is asked for."""

    reason: str

    def open(self) -> Image:
        """Raise a `DataError` with the reason."""
        raise DataError(self.reason)


def faulty(id: str, reason: str) -> Record:  # noqa: A002 - the field's own name
    """A record that a listing could not make sense of; asking for its picture says why.

    >>> faulty("line 3", "labels.tsv, line 3: no label").picture()
    Traceback (most recent call last):
        ...
    libragrad.errors.DataError: labels.tsv, line 3: no label
    """
    return Record(id, (), Fault(reason))
