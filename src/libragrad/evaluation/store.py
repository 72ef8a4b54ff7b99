"""The results folder: finished shards, plans, claims, and what was set aside.

shards/ADDRESS.parquet   finished, complete, never changed
plans/ADDRESS.json       what a run set out to do
claims/ADDRESS.json      who works on what now
aside/…                  corrupt shards, kept for a look
partial/…                being written
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from libragrad.errors import ResultsError
from libragrad.evaluation.location import LocalFolder, Location, open_location
from libragrad.evaluation.plan_note import PlanNote
from libragrad.evaluation.shard_file import CorruptShardError, decode, encode, items_of

__all__ = ["Store", "Survey"]

_SHARDS, _SUFFIX = "shards", ".parquet"


@dataclass(frozen=True)
class Survey:
    """What a look at the finished shards found.

    Attributes:
        items: the addresses of the finished items.
        failed: the addresses of the items that hold a failed image.
        set_aside: a line for each corrupt shard: which one, why, and where it is now.
    """

    items: frozenset[str]
    failed: frozenset[str]
    set_aside: tuple[str, ...]


@dataclass(frozen=True)
class Store:
    """A results folder at a path, or at a URL that fsspec knows."""

    folder: str | os.PathLike[str]
    location: Location = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Find the place; nothing is written."""
        object.__setattr__(self, "location", open_location(self.folder))

    def has(self, shard: str) -> bool:
        """Whether a shard of that address is finished."""
        return self.location.exists(_file(shard))

    def write(self, shard: str, table: pa.Table) -> None:
        """Add a finished shard; it is there completely or not at all."""
        with self.refusals():
            self.location.write(_file(shard), encode(table))

    def survey(self) -> Survey:
        """Read every shard once: what is finished, and what is corrupt and therefore set aside."""
        if isinstance(self.location, LocalFolder):
            self.location.sweep()
        items: set[str] = set()
        failed: set[str] = set()
        aside = []
        for shard in self._shards():
            try:
                table = self._read(shard)
            except CorruptShardError as error:
                aside.append(self._set_aside(shard, error))
                continue
            items.update(items_of(table))
            failed.update(table.filter(table["error"].is_valid())["item"].to_pylist())
        return Survey(frozenset(items), frozenset(failed), tuple(aside))

    def tables(self, items: Iterable[str]) -> Iterator[pa.Table]:
        """The shards that hold any of these items. A corrupt one is an error that names it."""
        wanted = set(items)
        for shard in self._shards():
            try:
                table = self._read(shard)
            except CorruptShardError as error:
                raise ResultsError(
                    f"{_file(shard)} in {self.folder} is corrupt: {error}; "
                    "run the evaluation again, it sets the shard aside and does it anew"
                ) from error
            if wanted.intersection(items_of(table)):
                yield table

    def write_plan(self, note: PlanNote) -> None:
        """Note what a run sets out to do, for the tables."""
        with self.refusals():
            self.location.write(f"plans/{note.address}.json", note.encode())

    def plans(self) -> dict[str, PlanNote]:
        """The newest plan of each recipe, by the recipe's name."""
        notes = [PlanNote.decode(self.location.read(name)) for name in self.location.names("plans")]
        return {note.recipe.name: note for note in sorted(notes, key=lambda note: note.started)}

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Say what happened where the folder takes no more."""
        try:
            yield
        except ResultsError:
            raise
        except OSError as error:
            cause = (
                "the disk is full"
                if error.errno in (errno.ENOSPC, errno.EDQUOT)
                else f"it cannot be written: {error.strerror or error}"
            )
            raise ResultsError(
                f"results folder {self.folder}: {cause}; everything finished is kept, "
                "make room and run again to continue"
            ) from error

    def _shards(self) -> list[str]:
        names = self.location.names(_SHARDS)
        return [name.rpartition("/")[2].removesuffix(_SUFFIX) for name in names]

    def _read(self, shard: str) -> pa.Table:
        return decode(self.location.read(_file(shard)), shard)

    def _set_aside(self, shard: str, why: CorruptShardError) -> str:
        copies = sum(shard in name for name in self.location.names("aside"))
        to = f"aside/{shard}.{copies + 1}{_SUFFIX}"
        self.location.move(_file(shard), to)
        return f"{_file(shard)} is corrupt ({why}); it is now {to} and done again"


def _file(shard: str) -> str:
    return f"{_SHARDS}/{shard}{_SUFFIX}"
