"""Measure one shard: what fails, fails alone, by its name and its cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from libragrad.evaluation.bench import Bench, Worker
from libragrad.evaluation.cell import Cell
from libragrad.evaluation.plan import Shard
from libragrad.evaluation.row import Row
from libragrad.evaluation.shard_file import to_table

__all__ = ["Measurer"]


class Measurer:
    """Measures shards one after another, with one model loaded at a time."""

    def __init__(self, bench: Bench, device: str, batch_size: int) -> None:
        self._bench, self._device, self._batch_size = bench, device, batch_size
        self._model: str | None = None
        self._worker: Worker | Exception | None = None

    def measure(self, shard: Shard) -> pa.Table:
        """The finished shard: one row for each cell and image, a failed one with its cause.

        Raises if the model cannot be had; it is asked for once, not for every shard.
        """
        worker = self._with_model(shard.model)
        rows: list[Row] = []
        for first in range(0, len(shard.records), self._batch_size):
            rows += _batch(worker, shard, shard.records[first : first + self._batch_size])
        return to_table(shard, rows)

    def _with_model(self, model: str) -> Worker:
        if self._model != model:
            self._worker = None  # the old model goes before the new one comes
            self._model = model
            try:
                self._worker = self._bench.worker(model, self._device, self._batch_size)
            except Exception as error:
                self._worker = error
        if isinstance(self._worker, Exception):
            raise self._worker
        assert self._worker is not None
        return self._worker


def _batch(worker: Worker, shard: Shard, records: Sequence[str]) -> Iterator[Row]:
    pictures: dict[str, Any] = {}
    for record in records:
        try:
            pictures[record] = worker.load(shard.dataset, record)
        except Exception as error:
            yield from _failures(shard.cells, [record], error)
    if pictures:
        yield from _isolated(worker, shard.cells, pictures)


def _isolated(worker: Worker, cells: Sequence[Cell], pictures: dict[str, Any]) -> Iterator[Row]:
    """All rows; after a failure cell by cell, and what fails again picture by picture."""
    try:
        rows = list(worker.measure(cells, list(pictures.values())))
        _check_complete(rows, cells, pictures)
    except Exception as error:
        if len(cells) > 1:
            for cell in cells:
                yield from _isolated(worker, [cell], pictures)
        elif len(pictures) > 1:
            for record, picture in pictures.items():
                yield from _isolated(worker, cells, {record: picture})
        else:
            yield from _failures(cells, list(pictures), error)
    else:
        yield from rows


def _failures(cells: Sequence[Cell], records: Sequence[str], error: Exception) -> Iterator[Row]:
    cause = f"{type(error).__name__}: {error}"
    for cell in cells:
        for record in records:
            yield Row(cell, record, error=cause)


def _check_complete(rows: Sequence[Row], cells: Sequence[Cell], pictures: dict[str, Any]) -> None:
    expected = {(cell, record) for cell in cells for record in pictures}
    given = [(row.cell, row.image) for row in rows]
    if len(given) != len(expected) or set(given) != expected:
        raise RuntimeError(
            f"the worker gave {len(given)} rows for {len(cells)} cells × {len(pictures)} images"
        )
