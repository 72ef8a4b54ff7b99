"""The page `docs/performance.md`, from what was measured."""

from collections.abc import Iterable, Sequence

from benchmarks.goals import Goal
from benchmarks.memory import Memory
from benchmarks.methods import Methods
from benchmarks.overhead import Overhead
from benchmarks.rounds import Times
from benchmarks.speed import Speed

_MIB = 2**20

_INTRODUCTION = """\
One run, round-robin: in each round every contender runs once, and its time is divided by that of
the no-grad forward of the same round. The tables give the median over the rounds and, in brackets,
the smallest and the largest. Times are processor time, summed over the threads. Models have random
weights. *Saved* counts the storages that autograd keeps for the backward, each once, parameters
excluded. The *limit* is computed from the floating-point operations: forward + input gradients of
the linear layers + half of attention."""


def page(
    command: str,
    machine: Sequence[str],
    speeds: Sequence[Speed],
    memories: Sequence[Memory],
    overheads: Sequence[Overhead],
    maps: Methods | None,
    goals: Sequence[Goal],
) -> str:
    """Compose the page; a part that was not measured is absent."""
    parts = ["# Performance", _INTRODUCTION, f"```\n{command}\n```"]
    parts.append("\n".join(f"* {line}" for line in machine))
    if goals:
        parts += ["## Goals", _goals(goals)]
    if speeds:
        parts.append("## Time, and bytes saved for the backward")
        for speed in speeds:
            parts += [f"### {speed.title}", _about(speed), _speed(speed)]
    if maps is not None:
        about = f"{maps.title}. Forward {maps.forward_seconds * 1000:,.0f} ms. {_METHODS}"
        rows = [(row.name, _multiple(row)) for row in maps.rows]
        parts += ["## Attribution methods", about, _table(("contender", "× forward"), rows)]
    if memories:
        parts += ["## Memory", _MEMORY, _memory(memories)]
    if overheads:
        parts += ["## The mode's own overhead", _OVERHEAD, _overhead(overheads)]
    return "\n\n".join(parts) + "\n"


_METHODS = """\
Each is one call of an `Explainer` that has met the model before; several methods listen to the same
forward and backward. The bare gradient goes back to the pixels, the maps to the tokens."""

_MEMORY = """\
As PyTorch's allocator counts it, allocations inside fused kernels included, and from the start of
the forward: what is held between forward and backward, the peak of both, and the largest single
allocation. *Largest tensor* is the most entries in the result of any operation, views included,
beside N² for the N tokens."""

_OVERHEAD = """\
A forward under the mode against the same forward without it, batch 1; with grad, the plain one has
frozen weights, and the mode's own includes the gates that its backward will need."""


def _goals(goals: Sequence[Goal]) -> str:
    rows = ((g.what, g.bound, g.measured, "reached" if g.reached else "**missed**") for g in goals)
    return _table(("goal", "bound", "measured", "verdict"), rows)


def _about(speed: Speed) -> str:
    forward = f"Forward {speed.forward_seconds * 1000:,.0f} ms"
    return f"{forward}, {speed.rounds} rounds, limit {speed.limit:.2f} × forward."


def _speed(speed: Speed) -> str:
    rows = (
        (row.name, _multiple(row), _saved(row.saved, speed.items), row.note) for row in speed.rows
    )
    return _table(("contender", "× forward", f"saved, MiB / {speed.item}", "note"), rows)


def _multiple(row: Times) -> str:
    if row.median is None:
        return "–"
    spread = f" ({min(row.multiples):.2f}–{max(row.multiples):.2f})"
    return f"{row.median:.2f}" + (spread if len(row.multiples) > 1 else "")


def _saved(saved: int | None, items: int) -> str:
    return "–" if saved is None else _mib(saved / items)


def _mib(size: float) -> str:
    return f"{size / _MIB:,.1f}"


def _memory(memories: Sequence[Memory]) -> str:
    heads = (
        "workload",
        "contender",
        "held, MiB",
        "peak, MiB",
        "largest allocation, MiB",
        "largest tensor",
        "N²",
    )
    rows = (
        (
            memory.title,
            memory.name,
            _mib(memory.held),
            _mib(memory.peak),
            _mib(memory.largest),
            f"{memory.numel:,}",
            f"{memory.square:,}",
        )
        for memory in memories
    )
    return _table(heads, rows)


def _overhead(overheads: Sequence[Overhead]) -> str:
    rows = (
        (
            overhead.title,
            "with grad" if overhead.grad else "no grad",
            f"{overhead.forward_seconds * 1000:.1f}",
            _multiple(overhead.times),
            f"{overhead.share:.1%}",
        )
        for overhead in overheads
    )
    return _table(("model", "mode", "plain forward, ms", "× plain forward", "overhead"), rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
