"""A crew keeps its hands busy: each holds a model and measures one shard at a time.

The hands only compute. What they hand back is written by the run that owns the crew, so a hand
that dies in mid-work leaves nothing behind, and its shard goes to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from libragrad.evaluation.plan import Shard

__all__ = ["ATTEMPTS", "Crew", "Hand", "HandLostError", "Outcome"]

ATTEMPTS = 3
"""How many hands a shard may cost before it is given up."""


class HandLostError(Exception):
    """A hand died while it worked; the message says of what."""


class Hand(Protocol):
    """Measures one shard at a time."""

    def start(self, shard: Shard) -> None:
        """Begin to measure a shard; returns at once where the hand is a process of its own."""

    def result(self) -> pa.Table:
        """The finished shard. Raises what the work raised, or `HandLostError`."""

    def close(self) -> None:
        """End the hand, whatever it is doing."""


@dataclass(frozen=True)
class Outcome:
    """What became of a shard: a table, or the cause why there is none."""

    shard: Shard
    table: pa.Table | None
    cause: str = ""


class Crew:
    """A number of hands of one kind.

    `hire` makes a hand; `wait` waits until any of the busy hands is done, and says which; `end`
    is called when all are gone.
    """

    def __init__(
        self,
        size: int,
        hire: Callable[[], Hand],
        wait: Callable[[Sequence[Hand]], Hand],
        end: Callable[[], None] = lambda: None,
    ) -> None:
        self._size, self._hire, self._wait, self._end = size, hire, wait, end
        self._idle: list[Hand] = []
        self._busy: dict[Hand, tuple[Shard, int]] = {}

    def work(self, shards: Iterator[Shard]) -> Iterator[Outcome]:
        """Measure all shards and hand each back when it is done, in any order.

        A shard is asked for when there is a hand for it, never earlier.
        """
        self._employ(shards)
        while self._busy:
            hand = self._wait(tuple(self._busy))
            shard, attempt = self._busy.pop(hand)
            try:
                outcome = Outcome(shard, hand.result())
            except HandLostError as lost:
                hand.close()
                if attempt < ATTEMPTS:
                    self._start(self._hire(), shard, attempt + 1)
                    continue
                outcome = Outcome(shard, None, f"{ATTEMPTS} workers died on it: {lost}")
            except Exception as error:
                self._idle.append(hand)
                outcome = Outcome(shard, None, f"{type(error).__name__}: {error}")
            else:
                self._idle.append(hand)
            yield outcome
            self._employ(shards)

    def close(self) -> None:
        """End all hands."""
        for hand in (*self._busy, *self._idle):
            hand.close()
        self._end()

    def _employ(self, shards: Iterator[Shard]) -> None:
        while len(self._busy) < self._size:
            shard = next(shards, None)
            if shard is None:
                return
            self._start(self._idle.pop() if self._idle else self._hire(), shard, 1)

    def _start(self, hand: Hand, shard: Shard, attempt: int) -> None:
        self._busy[hand] = shard, attempt
        hand.start(shard)
