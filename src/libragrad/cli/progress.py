"""How far a run over many pictures is, with an estimate of what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["bar"]


@contextmanager
def bar(title: str, total: int) -> Iterator[Callable[[], None]]:
    """Within it, call the function whenever one is done. Shown in terminals alone."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    hidden = total < 2 or not console.is_terminal
    with Progress(*columns, console=console, disable=hidden) as progress:
        task = progress.add_task(title, total=total)
        yield lambda: progress.advance(task)
