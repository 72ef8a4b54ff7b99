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
FILE_COLUMNS = ("file", "name", "path")
INDEX_COLUMNS = ("class_index", "imagenet_index")
NAME_COLUMNS = ("label", "class")


def tsv(path: Path | None) -> Dataset:
    """The pictures that a table lists.

    The first line names the columns. One is the file (`file`, `name` or `path`): a path from the
    table's own folder or from the folder `images` beside it, with or without its ending. One is
    the label: a number (`class_index`, `imagenet_index`), or (`label`, `class`) numbers or names;
    names are numbered in alphabetical order. Other columns may say what they like.

    A folder `trimaps` beside the table holds masks, `trimaps/NAME.png`: 1 the object, 2 the
    background, 3 the border. Pictures with masks keep their pixels as stored; others are turned as
    their EXIF orientation says. `path` may also be the folder of a `labels.tsv`.
    """
    table = path / "labels.tsv" if path is not None and path.is_dir() else path
    if table is None or not table.is_file():
        raise DataError(f"{NAME} reads a table of file and label, and {table} is none: give one")
    (_, header), *body = list(lines(table)) or [(0, "")]
    columns = header.split("\t")
    file = _column(columns, FILE_COLUMNS, table)
    label = _column(columns, (*INDEX_COLUMNS, *NAME_COLUMNS), table)
    classes = _class_names(columns[label], _cells(body, label))
    found = _files(table.parent)
    trimaps = table.parent / "trimaps"

    def record(number: int, line: str) -> Record:
        row, where = line.split("\t"), f"{table}, line {number}"
        if len(row) != len(columns):
            return faulty(
                where,
                f"{where} has {len(row)} columns where the first line has "
                f"{len(columns)}: write one tab between columns",
            )
        index = _index(row[label], classes)
        if index is None:
            return faulty(row[file], f"{where}: the label {row[label]!r} is no number from 0")
        picture = found.get(row[file], table.parent / row[file])
        mask = trimaps / f"{Path(row[file]).stem}.png"
        regions = Trimap(mask, index) if trimaps.is_dir() else None
        return Record(row[file], (index,), PictureFile(picture, regions is None), regions)

    return Dataset(NAME, tuple(record(*numbered) for numbered in body), classes)


def _cells(body: list[tuple[int, str]], column: int) -> list[str]:
    rows = (line.split("\t") for _, line in body)
    return [row[column] for row in rows if column < len(row)]


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
