"""What is written where: answers to standard output, all else to standard error."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

__all__ = ["answer", "complain", "number", "plain", "rows", "say"]


def answer(value: Any) -> None:
    """Print a value as JSON, for programs."""
    typer.echo(json.dumps(value, indent=2, allow_nan=False))


def number(value: float) -> float | None:
    """A number as JSON has it: none where there is no finite one.

    >>> number(0.5), number(float("nan"))
    (0.5, None)
    """
    return value if math.isfinite(value) else None


def rows(head: tuple[str, ...], body: list[tuple[str, ...]]) -> None:
    """Print a table for people; it wraps in a terminal and nowhere else."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=10_000)
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for title in head:
        table.add_column(title, overflow="fold")
    for row in body:
        table.add_row(*map(escape, row))
    console.print(table)


def say(message: str) -> None:
    """Tell the user something beside the answer. Rich's markup may be in it."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(message)


def complain(message: str) -> None:
    """Tell the user what went wrong."""
    say(f"[bold red]error[/bold red] {escape(message)}")


def plain(value: Any) -> Any:
    """Dataclasses, tuples and mappings as JSON has them, and no number where there is none.

    >>> plain((1.5, float("inf"), {"a": None}))
    [1.5, None, {'a': None}]
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return number(value) if isinstance(value, float) else value
