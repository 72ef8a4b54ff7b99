"""Where explained pictures go: to the terminal, to one file, or to a folder with an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from libragrad.cli.gallery import Gallery, Skipped
from libragrad.cli.maker import Made
from libragrad.explaining.archive import contents
from libragrad.picture import Look, save, show

__all__ = ["Delivery"]


@dataclass
class Delivery:
    """Takes one picture after the other. With neither file nor gallery the terminal shows them."""

    look: Look
    file: Path | None = None
    gallery: Gallery | None = None
    quiet: bool = False
    """Whether standard output is somebody else's."""

    @classmethod
    def to(cls, out: Path | None, look: Look, pictures: int, *, quiet: bool) -> Delivery:
        """Tell a file from a folder: a file has a suffix."""
        if out is None:
            return cls(look, quiet=quiet)
        if out.suffix and not out.is_dir():
            if pictures > 1:
                raise typer.BadParameter(
                    f"{out} is one file, and there are {pictures} pictures: name a folder",
                    param_hint="--out",
                )
            return cls(look, file=out, quiet=quiet)
        return cls(look, gallery=Gallery(out, look), quiet=quiet)

    def take(self, made: Made, name: str) -> Path | None:
        """Show the picture or write it, and return the path of what was written."""
        if self.gallery is not None:
            return self.gallery.add(made, name)
        if self.file is not None:
            self._say(*made.explanations)
            return self._write(made, self.file)
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

    def _write(self, made: Made, file: Path) -> Path:
        maps = made.explanations
        if file.suffix.lower() == ".npz" and (len(maps) > 1 or len(maps[0]) > 1):
            raise typer.BadParameter(
                "an .npz file holds one map: ask for one method and one target",
                param_hint="--out",
            )
        also = {".npz": lambda: contents(maps[0])}
        return save(made.sheet, file, self.look, also=also)

    def _say(self, *lines: object) -> None:
        if not self.quiet:
            for line in lines:
                typer.echo(str(line))
