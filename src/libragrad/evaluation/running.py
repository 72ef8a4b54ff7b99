"""Run a recipe: plan, see what is finished, measure the rest, report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial

from libragrad.evaluation.bench import Bench
from libragrad.evaluation.claims import Claims
from libragrad.evaluation.crew.cluster import ray_crew
from libragrad.evaluation.crew.crew import Crew, Outcome
from libragrad.evaluation.crew.own import own_crew
from libragrad.evaluation.crew.processes import process_crew
from libragrad.evaluation.library_bench import LibraryBench
from libragrad.evaluation.measure import Measurer
from libragrad.evaluation.names import KNOWN
from libragrad.evaluation.plan import SHARD_IMAGES, Shard, make_plan, remaining
from libragrad.evaluation.plan_note import PlanNote
from libragrad.evaluation.progress import Advance, bar, silence
from libragrad.evaluation.query import failures
from libragrad.evaluation.recipe import Recipe, load_recipe
from libragrad.evaluation.report import Report
from libragrad.evaluation.store import Store

__all__ = ["run"]

_POLL = 0.2  # seconds between two looks at the folder while other runs finish the last shards


def run(
    recipe: Recipe | str,
    out: str | os.PathLike[str],
    bench: Bench | None = None,
    *,
    device: str = "cpu",
    workers: int = 1,
    limit: int | None = None,
    batch_size: int = 20,
    progress: bool = True,
    ray: str | None = None,
    retry_failed: bool = False,
    shard_images: int = SHARD_IMAGES,
) -> Report:
    """Measure what the results folder does not hold yet of the recipe's cells.

    The run may be killed at any moment and started again, and several may share one folder.

    Args:
        recipe: the cells, or the name of a recipe, or a TOML file.
        out: the results folder, a path or any URL that fsspec knows.
        bench: the data sets and models; those of the library, if it is not given.
        device: where the models run.
        workers: processes (or Ray actors), each with a model of its own.
        limit: at most so many images of each sample.
        batch_size: at most so many images in a backward pass.
        progress: whether to show a bar.
        ray: the address of a Ray cluster; "local" starts Ray on this machine.
        retry_failed: whether images that failed are tried again.
        shard_images: images in a shard.
    """
    if workers < 1 or batch_size < 1 or (limit is not None and limit < 1):
        raise ValueError(
            "workers, batch_size and limit must be at least 1; "
            f"got {workers}, {batch_size} and {limit}"
        )
    store = Store(out)
    recipe = (load_recipe(recipe, KNOWN) if isinstance(recipe, str) else recipe).limited(limit)
    bench = bench or LibraryBench()
    plan = make_plan(recipe.cells, bench, shard_images)
    survey = store.survey()
    store.write_plan(PlanNote.of(recipe, plan, time.time()))
    again = survey.failed if retry_failed else frozenset()
    shift = _Shift(store, remaining(plan, survey.items - again), again)
    crew = _crew(partial(Measurer, bench, device, batch_size), workers, ray, device)
    try:
        with (bar if progress else silence)(recipe.name, shift.effort) as advance:
            shift.work(crew, advance)
    finally:
        crew.close()
    return Report(
        recipe=recipe.name,
        folder=str(out),
        measured=shift.measured,
        kept=sum(shard.rows for shard in plan) - shift.measured - shift.missing,
        failures=failures(store, (item for shard in plan for item in shard.items)),
        unfinished=tuple(shift.unfinished),
        set_aside=survey.set_aside,
    )


def _crew(make: Callable[[], Measurer], workers: int, ray: str | None, device: str) -> Crew:
    if ray is not None:
        return ray_crew(make, workers, ray, gpus=float(device.startswith("cuda")))
    return own_crew(make) if workers == 1 else process_crew(make, workers)


class _Shift:
    """The loop of one run over the shards that are left. `again` are items to do once more."""

    def __init__(self, store: Store, shards: Sequence[Shard], again: Set[str]) -> None:
        self._store, self._shards, self._again = store, shards, again
        self._elsewhere: list[Shard] = []
        self.effort = sum(shard.effort for shard in shards)
        self.measured = 0
        self.missing = 0
        self.unfinished: list[str] = []

    def work(self, crew: Crew, advance: Advance) -> None:
        """Measure all shards, waiting for those that other runs are at."""
        left = self._shards
        with Claims(self._store.location) as claims:
            while left:
                self._elsewhere = []
                for outcome in crew.work(self._claimed(left, claims, advance)):
                    self._settle(outcome)
                    claims.release(outcome.shard.address)
                    advance(outcome.shard.effort)
                left = self._elsewhere
                if left:
                    advance(0, f"waiting for {claims.holder(left[0].address) or 'nobody'}")
                    claims.wait(_POLL)

    def _claimed(self, left: Sequence[Shard], claims: Claims, advance: Advance) -> Iterator[Shard]:
        """The shards that this run has claimed, one whenever a hand is free."""
        for shard in left:
            if self._finished(shard):
                advance(shard.effort)
            elif not self._take(shard, claims):
                self._elsewhere.append(shard)
            elif self._finished(shard):  # by another run, between the two looks
                claims.release(shard.address)
                advance(shard.effort)
            else:
                yield shard

    def _take(self, shard: Shard, claims: Claims) -> bool:
        with self._store.refusals():
            return claims.take(shard.address)

    def _finished(self, shard: Shard) -> bool:
        return self._store.has(shard.address) and self._again.isdisjoint(shard.items)

    def _settle(self, outcome: Outcome) -> None:
        shard = outcome.shard
        if outcome.table is not None:
            self._store.write(shard.address, outcome.table)
            self.measured += shard.rows
            return
        self.missing += shard.rows
        self.unfinished.append(
            f"{shard.model} on {shard.dataset}, {len(shard.records)} images from "
            f"{shard.records[0]}: {outcome.cause}"
        )
