"""The crew of one: this very process."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from libragrad.evaluation.crew.crew import Crew
from libragrad.evaluation.measure import Measurer
from libragrad.evaluation.plan import Shard

__all__ = ["own_crew"]


def own_crew(make: Callable[[], Measurer]) -> Crew:
    """This process measures one shard after the other."""
    return Crew(1, lambda: _OwnHand(make()), lambda busy: busy[0])


class _OwnHand:
    def __init__(self, measurer: Measurer) -> None:
        self._measurer = measurer
        self._shard: Shard | None = None

    def start(self, shard: Shard) -> None:
        self._shard = shard

    def result(self) -> pa.Table:
        if self._shard is None:
            raise RuntimeError("no shard was started")
        return self._measurer.measure(self._shard)

    def close(self) -> None:
        self._shard = None
