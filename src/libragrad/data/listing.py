"""What the loaders share: finding pictures in folders, and reading small text files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from libragrad.data.picture_file import SUFFIXES
from libragrad.errors import DataError


def pictures_below(folder: Path) -> list[Path]:
    """Every picture in `folder` and its folders, by its ending; hidden files are left out."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def relative_id(path: Path, root: Path) -> str:
    """An id that is the same on every machine: the path below `root`, with forward slashes."""
    return path.relative_to(root).as_posix()


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file that say something, each with its number from 1."""
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if line.strip():
            yield number, line


def existing(name: str, root: Path | None, choices: Iterable[str]) -> Path:
    """The first of `choices` below `root` that is there, or an error that lists them."""
    asked = list(choices)
    if root is None:
        raise DataError(f"{name} is read from a folder: give its path")
    for choice in asked:
        if (root / choice).exists():
            return root / choice
    raise DataError(f"{name} was looked for in {root}, which has no {' or '.join(asked)}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as text ({error}): check the file") from error
