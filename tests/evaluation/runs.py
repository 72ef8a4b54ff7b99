"""Runs for the tests: a small recipe, and runs in processes that can be killed."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from libragrad.evaluation import Cell, Recipe, Report, Score, TableSpec, run
from tests.evaluation.linear_bench import LinearBench

SIZE = 30


def demo(methods: Sequence[str] = ("random", "input_x_grad"), models: Sequence[str] = ("a", "b")):
    """Two models, plain and Libra, deletion and completeness."""
    cells = [
        Cell(model, "pictures", method, metric, preset, samples=SIZE)
        for model in models
        for method in methods
        for preset in (("Standard",) if method == "random" else ("Standard", "Libra"))
        for metric in ("deletion", "completeness")
    ]
    scores = (Score("mif_accuracy", "predicted"), Score("srg_aopc"), Score("completeness_error"))
    spec = TableSpec("Demo", scores, split="model")
    return Recipe("demo", "a small recipe", tuple(cells), (spec,))


def without(recipe: Recipe, method: str) -> Recipe:
    return replace(recipe, cells=tuple(cell for cell in recipe.cells if cell.method != method))


def go(out: Path | str, bench: LinearBench | None = None, recipe=None, **options: Any) -> Report:
    options = {"progress": False, "shard_images": 5, **options}
    return run(recipe or demo(), out, bench or LinearBench(SIZE), **options)


def start(function, *arguments):
    """A process that runs the function; it does not import PyTorch anew each time."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "tests.evaluation.runs"])
    process = context.Process(target=function, args=arguments)
    process.start()
    return process


def files(out: Path, folder: str = "shards") -> dict[str, bytes]:
    """Every file of a folder of results."""
    return {path.name: path.read_bytes() for path in (out / folder).glob("*")}
