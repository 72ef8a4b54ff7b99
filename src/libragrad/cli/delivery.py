"""Where explained pictures go: to the terminal, to one file, or to a folder with an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os.path import realpath  # Path.resolve() raises where links go round
from pathlib import Path

import typer

from libragrad.cli.gallery import Gallery, Skipped
from libragrad.cli.given import file_names
from libragrad.cli.maker import Made
from libragrad.data.record import Record
from libragrad.explaining.archive import contents
from libragrad.picture import Look, save, show

__all__ = ["Delivery"]

_SUFFIXES = (".png", ".svg", ".html", ".npz")


@dataclass
class Delivery:
    """Takes one picture after the other. With neither file nor gallery the terminal shows them."""

    look: Look
    file: Path | None = None
    gallery: Gallery | None = None
    quiet: bool = False
    """Whether standard output is somebody else's."""

    @classmethod
    def to(cls, out: Path | None, look: Look, pictures: int, maps: int, *, quiet: bool) -> Delivery:
        """Tell a file from a folder: a file has a suffix. Each picture has so many `maps`."""
        if out is None:
            return cls(look, quiet=quiet)
        if not out.suffix or out.is_dir():
            return cls(look, gallery=Gallery(out, look), quiet=quiet)
        if pictures > 1:
            raise _wrong(f"{out} is one file, and there are {pictures} pictures: name a folder")
        if out.suffix.lower() not in _SUFFIXES:
            raise _wrong(f"{out} should end in one of {', '.join(_SUFFIXES)}")
        if out.suffix.lower() == ".npz" and maps > 1:
            raise _wrong("an .npz file holds one map: ask for one method and one target")
        return cls(look, file=out, quiet=quiet)

    def spare(self, records: Sequence[Record]) -> None:
        """Refuse to write over one of the pictures."""
        given = {realpath(record.id) for record in records}
        files = [self.file] if self.file is not None else []
        if self.gallery is not None:
            files = [self.gallery.path(name) for name in file_names(records)]
        for file in files:
            if realpath(file) in given:
                raise _wrong(f"{file} is one of the pictures, and would be lost: name another")

    def take(self, made: Made, name: str) -> Path | None:
        """Show the picture or write it, and return the path of what was written."""
        if self.gallery is not None:
            return self.gallery.add(made, name)
        if self.file is not None:
            also = {".npz": lambda: contents(made.explanations[0])}
            path = save(made.sheet, self.file, self.look, also=also)
            self._say(path, *made.explanations)
            return path
        if not self.quiet:
            typer.echo(f"{made.record.id}\n")
            show(made.sheet, self.look)
        return None

    def close(self, title: str, settings: str, skipped: Sequence[Skipped]) -> Path | None:
        """Write the index, where there is one."""
        if self.gallery is None:
            return None
        index = self.gallery.close(title, settings, skipped)
        self._say(index)
        return index

    def _say(self, *lines: object) -> None:
        if not self.quiet:
            for line in lines:
                typer.echo(str(line))


def _wrong(what: str) -> typer.BadParameter:
    return typer.BadParameter(what, param_hint="--out")
