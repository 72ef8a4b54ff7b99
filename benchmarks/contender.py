"""Someone who can be timed: a name, a call, and what to know about it."""

import gc
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Protocol

from torch import Tensor

from benchmarks.saved import SavedBytes
from benchmarks.workload import Workload


class Unavailable(Exception):
    """A contender that cannot run here; the message is the reason given in the table."""


class Contender(Protocol):
    """What a round needs of a contender.

    `most_rounds` bounds the rounds of a slow one; one round means no warm-up and no second run to
    count its saved bytes either.
    """

    @property
    def name(self) -> str: ...

    @property
    def most_rounds(self) -> int | None: ...

    @property
    def note(self) -> str: ...

    def seconds(self, repeats: int) -> float:
        """Time one call, as the mean over `repeats`."""
        ...

    def saved(self) -> int:
        """Count the bytes that one call saves for its backward."""
        ...

    def finite(self) -> bool:
        """Whether every number of one call's result is finite."""
        ...

    def close(self) -> None:
        """Give back whatever the contender holds."""
        ...


@dataclass(frozen=True)
class Local:
    """A contender that runs in this process."""

    name: str
    workload: Workload
    call: Callable[[], Tensor]
    most_rounds: int | None = None
    note: str = ""

    def seconds(self, repeats: int) -> float:
        """Time one call, as the mean over `repeats`.

        Processor time: who else runs on the machine, or waits for it, does not count.
        """
        gc.collect()
        start = process_time()
        for _ in range(repeats):
            self.call()
        return (process_time() - start) / repeats

    def saved(self) -> int:
        """Count the bytes that one call saves for its backward, parameters excluded."""
        with SavedBytes(self.workload.model) as counter:
            self.call()
        return counter.peak

    def finite(self) -> bool:
        """Whether every number of one call's result is finite."""
        return bool(self.call().isfinite().all())

    def close(self) -> None:
        """Hold nothing."""
