"""How far a run is, with an estimate of what is left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from libragrad.evaluation.extra import needs

__all__ = ["Advance", "bar", "silence"]


class Advance(Protocol):
    """Called whenever a shard is done."""

    def __call__(self, effort: int, note: str = "") -> None: ...


@contextmanager
def silence(title: str, effort: int) -> Iterator[Advance]:
    """No progress is shown."""
    yield lambda effort, note="": None


@contextmanager
def bar(title: str, effort: int) -> Iterator[Advance]:
    """A bar on standard error, measured in effort, so that unequal shards do not mislead."""
    with needs("evaluation", "a progress bar"):
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=600) as progress:
        task = progress.add_task(title, total=effort, note="")
        yield lambda effort, note="": progress.update(task, advance=effort, note=note)
