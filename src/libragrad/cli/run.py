"""Many pictures, one after the other: a bad one is skipped, and Ctrl-C keeps what is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from rich.markup import escape

from libragrad.cli.delivery import Delivery
from libragrad.cli.gallery import Skipped
from libragrad.cli.given import file_names
from libragrad.cli.maker import Made, Maker, Opened
from libragrad.cli.progress import bar
from libragrad.cli.report import as_data
from libragrad.cli.screen import answer, say
from libragrad.data.record import Record
from libragrad.errors import DataError, InputError, PictureError

__all__ = ["run"]


def run(
    records: Sequence[Record],
    maker: Maker,
    delivery: Delivery,
    manifest: dict[str, Any],
    batch_size: int,
    *,
    values: bool,
    as_json: bool,
) -> int:
    """Explain and deliver all pictures; return the exit code."""
    ids = [record.id for record in records]
    names = dict(zip(ids, file_names(records), strict=True))
    work = _Work(maker, delivery, names, values)
    stopped = False
    try:
        with bar("explaining", len(records)) as advance:
            for start in range(0, len(records), batch_size):
                work.do(records[start : start + batch_size], advance)
    except KeyboardInterrupt:
        stopped = True
    done, skipped = work.done, work.skipped
    methods = dict.fromkeys(entry["name"] for one in done for entry in one["explanations"])
    title = " · ".join(methods) or "nothing explained"
    index = delivery.close(title, f"{manifest['name']}, {manifest['weights']}", skipped)
    if as_json:
        answer(
            {
                "model": manifest,
                "pictures": done,
                "skipped": [one._asdict() for one in skipped],
                "stopped": stopped,
                "index": None if index is None else str(index),
            }
        )
    if stopped:
        say(f"stopped: {len(done)} of {len(records)} pictures are done, and kept")
        return 130
    if skipped:
        say(f"{len(done)} of {len(records)} pictures explained, {len(skipped)} skipped")
    return int(bool(skipped))


@dataclass
class _Work:
    """What is done, and what was skipped."""

    maker: Maker
    delivery: Delivery
    names: dict[str, str]
    values: bool
    done: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def do(self, records: Sequence[Record], advance: Callable[[], None]) -> None:
        """Explain the readable ones of these together, and deliver them one by one."""
        opened = list(self._opened(records, advance))
        for made in self._made(opened) if opened else ():
            path = self.delivery.take(made, self.names[made.record.id])
            file = None if path is None else str(path)
            self.done.append(as_data(made, file, values=self.values))
            advance()

    def _made(self, opened: Sequence[Opened]) -> list[Made]:
        try:
            return self.maker.make(opened)
        except torch.OutOfMemoryError as error:
            raise InputError(
                f"{self.maker.device} has too little memory for this: take a smaller --batch-size"
            ) from error

    def _opened(self, records: Sequence[Record], advance: Callable[[], None]) -> Iterator[Opened]:
        for record in records:
            try:
                yield record, record.picture()
            except (PictureError, DataError) as error:
                self.skipped.append(Skipped(record.id, str(error)))
                say(f"[yellow]skipped[/yellow] {escape(str(error))}")
                advance()
