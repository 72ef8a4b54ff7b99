"""Read pictures from Parquet files as the hub lays them out.

A shard `data/validation-00003-of-00014.parquet` has a row a picture: a column `image` of
{bytes, path}, and one of labels. A listing reads the small columns alone; the bytes of a picture
are read with its row group, of which the last ones stay in memory, so that neighbours come cheap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from libragrad.data.picture_file import open_picture
from libragrad.data.record import Record, faulty
from libragrad.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

_OF = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.parquet")


@dataclass(frozen=True)
class ParquetRow:
    """The picture in one row of a shard."""

    shard: Path
    group: int
    row: int

    def open(self) -> Image:
        """The picture in RGB, with its pixels as stored."""
        called = f"{self.shard}, row group {self.group}, row {self.row}"
        try:
            cell: Mapping[str, Any] | None = _pictures(self.shard, self.group)[self.row].as_py()
        except (OSError, ValueError, KeyError, IndexError) as error:
            raise DataError(f"{called} cannot be read ({error}): get the file again") from error
        if not cell or not cell.get("bytes"):
            raise DataError(f"{called} holds no picture: its `image` has no bytes")
        return open_picture(cell["bytes"], called, upright=False)


@dataclass(frozen=True)
class Row:
    """What a listing knows of a row: where it is, its small columns, and its picture's source."""

    place: str
    values: Mapping[str, Any]
    source: ParquetRow


def shards(folder: Path, split: str) -> list[Path]:
    """The shards of a split in `folder` or its `data`, in order; empty if there are none.

    A shard that is missing from a numbered set is listed with the others, and a record says later
    that it is not there.
    """
    found = sorted(
        path for place in (folder, folder / "data") for path in place.glob(f"{split}-*.parquet")
    )
    numbered = [_OF.fullmatch(path.name) for path in found]
    if not found or not all(numbered):
        return found
    first = numbered[0]
    assert first is not None
    name, count = first["stem"], int(first["count"])
    return [found[0].parent / f"{name}-{i:05d}-of-{count:05d}.parquet" for i in range(count)]


def rows(paths: list[Path], columns: list[str]) -> Iterator[Row | Record]:
    """The rows of the shards with their small `columns`; for an unreadable shard a faulty record.

    The picture's own file name, `image.path`, is among the values as "path".
    """
    _parquet()
    for path in paths:
        try:
            listing = list(_rows_of(path, columns))
        except (OSError, KeyError, ValueError) as error:
            yield faulty(path.name, f"{path} cannot be read ({error}): get the file again")
        else:
            yield from listing


def _rows_of(path: Path, columns: list[str]) -> Iterator[Row]:
    file = _parquet().ParquetFile(path)
    number = 0
    for group in range(file.num_row_groups):
        table = file.read_row_group(group, columns=[*columns, "image.path"])
        names = [(image or {}).get("path") for image in table["image"].to_pylist()]
        listed = [table[column].to_pylist() for column in columns]
        for row, (name, *values) in enumerate(zip(names, *listed, strict=True)):
            known = dict(zip(columns, values, strict=True)) | {"path": name}
            yield Row(f"{path.stem}/{number:05d}", known, ParquetRow(path, group, row))
            number += 1


@lru_cache(maxsize=2)
def _pictures(shard: Path, group: int) -> Any:
    file = _parquet().ParquetFile(shard)
    return file.read_row_group(group, columns=["image"])["image"]


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise DataError(
            "Parquet files are read with pyarrow: pip install 'libragrad[evaluation]'"
        ) from error
    return parquet
