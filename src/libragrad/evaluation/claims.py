"""Claims: which run works on which shard, so that two runs on one folder share the work.

A claim only saves work. That no row counts twice rests on addresses: two runs that did the same
shard would have written the same file.
"""

from __future__ import annotations

import contextlib
import json
import threading
from types import TracebackType

from libragrad.evaluation.address import canonical
from libragrad.evaluation.location import Location
from libragrad.evaluation.owner import SILENCE, Owner

__all__ = ["Claims"]


class Claims:
    """The claims of this run: a file each, refreshed while it lives, removed at the end."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._held: set[str] = set()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._beating = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Claims:
        self._beating.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._beating.join()
        for shard in tuple(self._held):
            self.release(shard)

    def take(self, shard: str) -> bool:
        """Claim a shard; false if another living run has it."""
        name, data = _name(shard), _claim()
        taken = self._location.create(name, data)
        if not taken and self.holder(shard) is None:
            self._location.remove(name)
            taken = self._location.create(name, data)
        if taken:
            with self._lock:
                self._held.add(shard)
        return taken

    def holder(self, shard: str) -> Owner | None:
        """The living owner of a shard's claim, if there is one."""
        try:
            owner = Owner.read(json.loads(self._location.read(_name(shard))))
        except (FileNotFoundError, ValueError):
            return None
        return owner if owner is not None and owner.lives() else None

    def release(self, shard: str) -> None:
        """Give a claim back."""
        with self._lock:
            self._held.discard(shard)
            self._location.remove(_name(shard))

    def wait(self, seconds: float) -> None:
        """Let other runs work on."""
        self._done.wait(seconds)

    def _beat(self) -> None:
        while not self._done.wait(SILENCE / 4):
            # Where a beat cannot be written, others may do this work as well: no harm.
            with self._lock, contextlib.suppress(OSError):
                for shard in self._held:
                    self._location.write(_name(shard), _claim())


def _name(shard: str) -> str:
    return f"claims/{shard}.json"


def _claim() -> bytes:
    return canonical(Owner.here().fields()).encode()
