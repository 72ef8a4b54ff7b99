"""Where results lie: a folder on this machine, or any place that fsspec reaches."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

__all__ = ["LocalFolder", "Location", "RemoteFolder", "open_location"]

_LEFT_BEHIND = 600.0  # seconds; a write takes far less


class Location(Protocol):
    """Whole files by name. A file appears complete or not at all."""

    def __str__(self) -> str: ...

    def read(self, name: str) -> bytes:
        """The file's bytes; raises `FileNotFoundError`."""

    def write(self, name: str, data: bytes) -> None:
        """Put the file there at once and for good, in place of an older one."""

    def create(self, name: str, data: bytes) -> bool:
        """Put the file there if there is none; whether there was none. A crash may undo it."""

    def exists(self, name: str) -> bool:
        """Whether the file is there."""

    def names(self, folder: str) -> list[str]:
        """The files of a folder, sorted."""

    def move(self, name: str, to: str) -> None:
        """Rename a file; nothing happens if it is gone."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""


def open_location(folder: str | os.PathLike[str]) -> Location:
    """The location of that path or URL.

    >>> type(open_location("memory://results")).__name__
    'RemoteFolder'
    """
    text = os.fspath(folder)
    if "://" in text:
        return RemoteFolder(text)
    return LocalFolder(Path(text))


class LocalFolder:
    """A folder of a local or mounted disk: written aside, synchronised, renamed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._partial = folder / "partial"

    def __str__(self) -> str:
        return str(self.folder)

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        self._place(name, data, os.replace, lasting=True)

    def create(self, name: str, data: bytes) -> bool:
        if self.exists(name):
            return False
        # A link fails where the name is taken, and the file is complete when it appears.
        try:
            self._place(name, data, os.link, lasting=False)
        except FileExistsError:
            return False
        return True

    def exists(self, name: str) -> bool:
        return (self.folder / name).exists()

    def names(self, folder: str) -> list[str]:
        path = self.folder / folder
        if not path.is_dir():
            return []
        return sorted(f"{folder}/{entry.name}" for entry in path.iterdir() if entry.is_file())

    def move(self, name: str, to: str) -> None:
        (self.folder / to).parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            (self.folder / name).replace(self.folder / to)

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what writers that were killed have left behind."""
        for name in self.names("partial"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - (self.folder / name).stat().st_mtime > _LEFT_BEHIND:
                    self.remove(name)

    def _place(
        self, name: str, data: bytes, settle: Callable[[Path, Path], None], *, lasting: bool
    ) -> None:
        path, partial = self.folder / name, self._partial / uuid.uuid4().hex
        for folder in (path.parent, self._partial):
            folder.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("xb") as file:
                file.write(data)
                file.flush()
                if lasting:
                    os.fsync(file.fileno())
            settle(partial, path)
        finally:
            partial.unlink(missing_ok=True)
        if lasting:
            _synchronise(path.parent)


class RemoteFolder:
    """A place that fsspec reaches. A whole object appears at once there: nothing is renamed."""

    def __init__(self, url: str) -> None:
        from fsspec.core import url_to_fs

        self.url = url.rstrip("/")
        files, root = url_to_fs(self.url)
        self._files: Any = files
        self._root = str(root)

    def __str__(self) -> str:
        return self.url

    def read(self, name: str) -> bytes:
        data: bytes = self._files.cat_file(self._at(name))
        return data

    def write(self, name: str, data: bytes) -> None:
        self._files.pipe_file(self._at(name), data)

    def create(self, name: str, data: bytes) -> bool:
        try:
            self._files.pipe_file(self._at(name), data, mode="create")
        except FileExistsError:
            return False
        return True

    def exists(self, name: str) -> bool:
        self._files.invalidate_cache()  # another run may have written since
        there: bool = self._files.exists(self._at(name))
        return there

    def names(self, folder: str) -> list[str]:
        self._files.invalidate_cache()
        try:
            found = self._files.ls(self._at(folder), detail=False)
        except FileNotFoundError:
            return []
        return sorted(f"{folder}/{str(path).rsplit('/', 1)[-1]}" for path in found)

    def move(self, name: str, to: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._files.mv(self._at(name), self._at(to))

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._files.rm_file(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"


def _synchronise(folder: Path) -> None:
    """Make a rename last through a loss of power, where folders can be synchronised at all."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
