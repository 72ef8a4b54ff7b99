"""A table of file and label, with tabs between its columns, and maybe a folder of masks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from libragrad.data.dataset import Dataset
from libragrad.data.listing import lines, pictures_below
from libragrad.data.record import PictureFile, Record, faulty
from libragrad.data.trimap import Trimap
from libragrad.errors import DataError

NAME = "tsv"
DEFAULT_FILE = "labels.tsv"
FILE_COLUMNS = ("file", "name", "path")
INDEX_COLUMNS = ("class_index", "imagenet_index")
NAME_COLUMNS = ("label", "class")


def tsv(path: Path | None, *, upright: bool = True) -> Dataset:
    """The pictures that a table lists.

    The first line names the columns. One is the file (`file`, `name` or `path`): a path from the
    table's own folder or from the folder `images` beside it, with or without its ending. One is
    the label: a number (`class_index`, `imagenet_index`), or (`label`, `class`) numbers or names;
    names are numbered in alphabetical order. Other columns may say what they like.

    A folder `trimaps` beside the table holds masks, `trimaps/NAME.png`: 1 the object, 2 the
    background, 3 the border. Pictures with masks keep their pixels as stored; others are turned as
    their EXIF orientation says, if `upright`. `path` may also be the folder of a `labels.tsv`.
    """
    table = path / DEFAULT_FILE if path is not None and path.is_dir() else path
    if table is None or not table.is_file():
        raise DataError(f"{NAME} reads a table of file and label, and {table} is none: give one")
    (_, header), *body = list(lines(table)) or [(0, "")]
    rows = [(f"{table}, line {number}", line.split("\t")) for number, line in body]
    columns = header.split("\t")
    file = _column(columns, FILE_COLUMNS, table)
    label = _column(columns, (*INDEX_COLUMNS, *NAME_COLUMNS), table)
    classes = _class_names(columns[label], [row[label] for _, row in rows if label < len(row)])
    found = _files(table.parent)
    trimaps = table.parent / "trimaps"

    def record(where: str, row: list[str]) -> Record:
        if len(row) != len(columns):
            counts = f"{len(row)} columns where the first line has {len(columns)}"
            return faulty(where, f"{where} has {counts}: write one tab between columns")
        name, index = row[file], _index(row[label], classes)
        if index is None:
            return faulty(name, f"{where}: the label {row[label]!r} is no number from 0")
        picture = found.get(name, table.parent / name)
        if not trimaps.is_dir():
            return Record(name, (index,), PictureFile(picture, upright))
        mask = Trimap(trimaps / f"{Path(name).stem}.png", index)
        return Record(name, (index,), PictureFile(picture), mask)

    return Dataset(NAME, tuple(record(*row) for row in rows), classes)


def _class_names(column: str, cells: list[str]) -> tuple[str, ...] | None:
    """The names in alphabetical order; None if the labels are numbers, as one of them shows."""
    if column in INDEX_COLUMNS or any(cell.isdecimal() for cell in cells):
        return None
    return tuple(sorted(set(cells)))


def _column(columns: list[str], names: tuple[str, ...], table: Path) -> int:
    for name in names:
        if name in columns:
            return columns.index(name)
    raise DataError(
        f"{table} has the columns {', '.join(map(repr, columns))} in its first line, and none of "
        f"{', '.join(names)}: name them there"
    )


def _index(cell: str, classes: tuple[str, ...] | None) -> int | None:
    if classes is not None:
        return classes.index(cell)
    return int(cell) if cell.isdecimal() else None


def _files(folder: Path) -> Mapping[str, Path]:
    """The pictures of a folder, and of `images` in it, by path with and without the ending."""
    found: dict[str, Path] = {}
    for place in (folder, folder / "images"):
        for path in pictures_below(place) if place.is_dir() else []:
            below = path.relative_to(place)
            found.setdefault(below.as_posix(), path)
            found.setdefault(below.with_suffix("").as_posix(), path)
    return found
