"""Run the measurements and write the page."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks import machine, memory, methods, overhead, speed
from benchmarks.goals import goals
from benchmarks.memory import Memory
from benchmarks.methods import Methods
from benchmarks.overhead import Overhead
from benchmarks.report import page
from benchmarks.speed import Speed
from benchmarks.workload import BUILD

PARTS = ("vit-t", "vit-b", "decoder", "methods", "overhead", "memory")
PAGE = Path("docs/performance.md")


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds a workload (default 7)")
    parser.add_argument("--threads", type=int, help="of PyTorch (default: its own choice)")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="two rounds, no 16,384 tokens in the time table, nothing that takes 50 passes",
    )
    parser.add_argument("--only", default=",".join(PARTS), help="comma-separated: %(default)s")
    parser.add_argument(
        "--output", type=Path, help=f"default {PAGE} for a complete run, else standard output"
    )
    chosen = parser.parse_args(arguments)
    chosen.only = chosen.only.split(",")
    if unknown := set(chosen.only) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    if chosen.quick:
        chosen.rounds = min(chosen.rounds, 2)
    elif set(chosen.only) == set(PARTS):
        chosen.output = chosen.output or PAGE
    return chosen


def timed(chosen: argparse.Namespace) -> list[Speed]:
    """Measure the time of every chosen workload, the models one after the other."""
    speeds = []
    for key, build in BUILD.items():
        if _part(key) not in chosen.only or (chosen.quick and key == "decoder-16384"):
            continue
        print(f"time: {key}", file=sys.stderr)
        speeds.append(speed.measure(build(), chosen.rounds, chosen.quick))
    return speeds


def remembered(chosen: argparse.Namespace) -> list[Memory]:
    """Measure the memory of every workload, or of none."""
    if "memory" not in chosen.only:
        return []
    found = []
    for key, build in BUILD.items():
        print(f"memory: {key}", file=sys.stderr)
        found += memory.measure(build())
    return found


def burdened(chosen: argparse.Namespace) -> list[Overhead]:
    """Measure the mode's overhead, or nothing."""
    if "overhead" not in chosen.only:
        return []
    print("overhead", file=sys.stderr)
    return overhead.measure(3 * chosen.rounds)


def attributed(chosen: argparse.Namespace) -> Methods | None:
    """Measure the attribution methods, or nothing."""
    if "methods" not in chosen.only:
        return None
    print("methods", file=sys.stderr)
    return methods.measure(chosen.rounds)


def main(arguments: Sequence[str]) -> int:
    """Measure, judge, write; fail if a tensor of N×N entries was made where none may be."""
    from libragrad.models.torchvision_cpu import declare_missing_operators

    declare_missing_operators()
    warnings.simplefilter("ignore")
    chosen = options(arguments)
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    speeds, maps, burdens = timed(chosen), attributed(chosen), burdened(chosen)
    memories = remembered(chosen)
    judged = goals(speeds, memories, burdens, maps)
    command = " ".join(["python -m benchmarks", *arguments])
    text = page(command, machine.description(), speeds, memories, burdens, maps, judged)
    if chosen.output is None:
        print(text)
    else:
        chosen.output.parent.mkdir(parents=True, exist_ok=True)
        chosen.output.write_text(text, encoding="utf-8")
    return int(any("N×N" in goal.what and not goal.reached for goal in judged))


def _part(key: str) -> str:
    return "decoder" if key.startswith("decoder") else key


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
