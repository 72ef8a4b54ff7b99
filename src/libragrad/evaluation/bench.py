"""What the harness asks of the world: three questions to a bench, two to its workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from libragrad.evaluation.cell import Cell
from libragrad.evaluation.row import Row

__all__ = ["Bench", "Worker"]


class Worker(Protocol):
    """Holds one model, reads pictures and measures cells on them."""

    def load(self, dataset: str, record: str) -> Any:
        """The picture of that record, with its label and mask; raises if it cannot be read."""

    def measure(self, cells: Sequence[Cell], pictures: Sequence[Any]) -> Iterable[Row]:
        """One row for each cell and picture. The cells share model, data set and seed."""


class Bench(Protocol):
    """Knows the data sets and the models. It can be pickled: every process gets a copy."""

    def records(self, dataset: str, samples: int, seed: int) -> Sequence[str]:
        """The ids of a seeded sample. A smaller sample is the beginning of a larger one."""

    def manifest(self, model: str, dataset: str) -> Mapping[str, str]:
        """The versions and checksums of all that decides a result, by name."""

    def worker(self, model: str, device: str, batch_size: int) -> Worker:
        """A worker with that model loaded."""
