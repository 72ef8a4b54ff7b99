"""The pictures that were named: files, folders, globs, and those that come with the package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path

from libragrad.data.picture_file import SUFFIXES
from libragrad.data.record import PictureFile, Record
from libragrad.data.table import load_dataset
from libragrad.errors import InputError

__all__ = ["file_names", "given"]

_BUILT_IN = "builtin:mosaic"


def given(names: Sequence[str]) -> list[Record]:
    """The pictures in the order in which they were named, each once. None is opened yet.

    >>> [record.id for record in given(["builtin:mosaic-007", "zebra.jpg", "zebra.jpg"])]
    ['mosaic-007', 'zebra.jpg']
    """
    found: dict[str, Record] = {}
    for name in names:
        for record in _named(name):
            found.setdefault(record.id, record)
    return list(found.values())


def file_names(records: Iterable[Record]) -> Iterator[str]:
    """A name for what is made of each picture: its own without the suffix, and no name twice.

    >>> list(file_names(given(["a/zebra.jpg", "b/zebra.png", "b/zebra-2.png"])))
    ['zebra', 'zebra-2', 'zebra-2-2']
    """
    taken: set[str] = set()
    for record in records:
        stem = name = Path(record.id).stem
        count = 1
        while name in taken:
            count += 1
            name = f"{stem}-{count}"
        taken.add(name)
        yield name


def _named(name: str) -> Iterable[Record]:
    if name.startswith("builtin:"):
        return _built_in(name)
    path = Path(name)
    if path.is_dir():
        files = [file for file in path.iterdir() if file.suffix.lower() in SUFFIXES]
        if not files:
            raise InputError(
                f"the folder {name} holds no pictures ({', '.join(sorted(SUFFIXES))}): name the "
                f"files, or say how deep they lie: '{name}/**/*.jpg'"
            )
        return map(_file, sorted(files))
    if has_magic(name) and not path.exists():
        matches = map(Path, glob(name, recursive=True))  # noqa: PTH207 - it may be absolute
        files = [match for match in matches if match.is_file()]
        if not files:
            raise InputError(f"no file matches {name!r}: check the pattern")
        return map(_file, sorted(files))
    return [_file(path)]


def _file(path: Path) -> Record:
    return Record(str(path), (), PictureFile(path, upright=True))


def _built_in(name: str) -> Iterable[Record]:
    data = load_dataset(_BUILT_IN)
    if name == _BUILT_IN:
        return data
    found = [record for record in data if f"builtin:{record.id}" == name]
    if not found:
        raise InputError(
            f"no built-in picture {name!r}; there are builtin:{data[0].id} to "
            f"builtin:{data[len(data) - 1].id}, and {_BUILT_IN} is all of them"
        )
    return found
