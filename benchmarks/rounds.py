"""Round-robin timing: everyone once a round, each as a multiple of the round's own forward."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import median

from benchmarks.contender import Contender, Unavailable

_LONG_ENOUGH = 0.3
"""Seconds that one timing should last, so that a short call is repeated."""


@dataclass
class Times:
    """Multiples of the forward, one a round, and what else was learned of a contender."""

    name: str
    multiples: list[float] = field(default_factory=list)
    saved: int | None = None
    note: str = ""

    @property
    def median(self) -> float | None:
        """Give the median over the rounds; None where nothing was measured."""
        return median(self.multiples) if self.multiples else None


def interleave(
    forward: Contender, contenders: Sequence[Contender], rounds: int
) -> tuple[float, list[Times]]:
    """Time everyone in turn; give the forward's median seconds and each one's multiples.

    A contender that fails is out, with its reason; a first call that warms up is not counted. Each
    round begins with the forward, and the others start one place later than in the round before.
    """
    repeats = {id(forward): _repeats(forward)}
    times = {id(one): Times(one.name, note=one.note) for one in contenders}
    ready = []
    for one in contenders:
        try:
            repeats[id(one)] = _learn(one, times[id(one)])
            ready.append(one)
        except Unavailable as reason:
            times[id(one)].note = str(reason)
    base = []
    for turn in range(rounds):
        base.append(forward.seconds(repeats[id(forward)]))
        shift = turn % max(1, len(ready))
        for one in ready[shift:] + ready[:shift]:
            if one.most_rounds is None or turn < one.most_rounds:
                seconds = one.seconds(repeats[id(one)])
                times[id(one)].multiples.append(seconds / base[-1])
    return median(base), list(times.values())


def _repeats(one: Contender) -> int:
    one.seconds(1)
    return max(1, ceil(_LONG_ENOUGH / one.seconds(1)))


def _learn(one: Contender, times: Times) -> int:
    """Warm up, count the bytes saved, and look at the result."""
    if one.most_rounds == 1:
        return 1
    if not one.finite():
        times.note = "; ".join(filter(None, (times.note, "its result is not finite here")))
    times.saved = one.saved()
    return _repeats(one)
