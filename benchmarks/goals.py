"""The goals, and whether this run reached them."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.gradients import FROZEN, LIBRA, WEIGHTS
from benchmarks.memory import Memory
from benchmarks.methods import GENATT, ONE, TEN, Methods
from benchmarks.overhead import Overhead
from benchmarks.speed import Speed

LONGEST = "decoder-16384"


@dataclass(frozen=True)
class Goal:
    """A bound, what was measured, and the verdict."""

    what: str
    bound: str
    measured: str
    reached: bool


def goals(
    speeds: list[Speed],
    memories: list[Memory],
    overheads: list[Overhead],
    maps: Methods | None = None,
) -> list[Goal]:
    """Judge what was measured; a goal without a measurement is not listed."""
    return [
        *_of_speed(next((speed for speed in speeds if speed.key == "vit-b"), None)),
        *_of_memory(memories),
        *(_of_overhead(overhead) for overhead in overheads),
        *_of_methods(maps),
    ]


def _of_speed(speed: Speed | None) -> Iterator[Goal]:
    if speed is None:
        return
    libra, frozen, weights = (speed.row(gradient.name) for gradient in (LIBRA, FROZEN, WEIGHTS))
    if libra.median is not None:
        yield _at_most("ViT-B time, × forward", libra.median, 1.9)
        if frozen.median is not None:
            yield _at_most("ViT-B time, × frozen plain autograd", libra.median / frozen.median, 1)
    if libra.saved is not None:
        for other, bound in ((weights, 0.5), (frozen, 0.7)):
            if other.saved:
                what = f"ViT-B bytes saved, × {other.name}"
                yield _at_most(what, libra.saved / other.saved, bound)


def _of_memory(memories: list[Memory]) -> Iterator[Goal]:
    for memory in memories:
        if memory.key == LONGEST and memory.name == LIBRA.name:
            yield Goal(
                f"no N×N tensor at {round(memory.square**0.5):,} tokens, forward and backward",
                f"< {memory.square:,} entries",
                f"{memory.numel:,} ({memory.operation})",
                memory.is_linear,
            )


def _of_methods(maps: Methods | None) -> Iterator[Goal]:
    if maps is None:
        return
    bounds = ((TEN, ONE, 1.3), (GENATT, ONE, 1.5), (ONE, LIBRA.name, 1.15))
    for name, other, bound in bounds:
        yield _at_most(f"ViT-B, {name}, × {other}", maps.ratio(name, other), bound)


def _of_overhead(overhead: Overhead) -> Goal:
    grad = "with grad" if overhead.grad else "no grad"
    what = f"the mode's overhead, {overhead.title}, {grad}"
    return Goal(what, "< 15 %", f"{overhead.share:.1%}", overhead.share < 0.15)


def _at_most(what: str, measured: float, bound: float) -> Goal:
    return Goal(what, f"≤ {bound:g}", f"{measured:.2f}", measured <= bound)
