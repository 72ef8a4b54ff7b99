"""One forward, one backward for each goal, and every method that listens to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from libragrad.engine.balanced import balanced
from libragrad.errors import InputError
from libragrad.explaining.batch import Batch
from libragrad.explaining.checkpointing import checkpointed
from libragrad.geometry.geometry import Geometry, Point
from libragrad.geometry.layout import Layout
from libragrad.methods.method import Method, Profile
from libragrad.observation.events import Event, Scene
from libragrad.observation.observer import Observer
from libragrad.observation.placing import Placing, PlacingChanged
from libragrad.observation.watch import Watch
from libragrad.paths import Path
from libragrad.presets import Preset
from libragrad.targets import Goal


@dataclass(frozen=True)
class Plan:
    """What is run: on which level, under which preset, along which path, heard by whom."""

    model: nn.Module
    geometry: Geometry
    layers: Sequence[tuple[Point, Layout]]
    preset: Preset
    path: Path
    methods: Sequence[Method]
    profile: Profile
    checkpoint: bool
    seed: int

    @property
    def hears(self) -> frozenset[Event]:
        """What at least one of the methods listens to."""
        readings = [method.reading(self.profile) for method in self.methods]
        return frozenset(event for reading in readings for event in reading.hears)


class Sum(NamedTuple):
    """What a method gave, one row a picture; sums over the points of a path."""

    tokens: Tensor
    rest: Tensor
    accounted: Tensor

    def plus(self, other: Sum) -> Sum:
        """Add what other points gave."""
        return Sum(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Found:
    """What some points of the path gave."""

    sums: list[list[Sum]]
    """For each goal, for each method, the weighted sums over these points."""
    y: list[Tensor]
    """For each goal, y of (points, pictures)."""
    goals: Sequence[Goal]
    """What is explained, one row a picture."""
    output: Any
    """The model's output, a row for each point and picture."""
    placing: Placing
    """Where its biases belong; if it is complete, for other batches of the shape too."""


def run(
    plan: Plan,
    batch: Batch,
    goals: Sequence[Goal] | Callable[[Any], Sequence[Goal]],
    points: list[int],
    known: Placing | None = None,
) -> Found:
    """Run some points of the path. Goals may be given as a function of the output.

    `known` is a complete placing that an earlier pass over a batch of this shape found.
    """
    if known is not None:
        try:
            return _run(plan, batch, goals, points, known)
        except PlacingChanged:  # the model takes another course with each input
            pass
    rows = batch.size * len(plan.path.needs(points))
    placing = Placing(plan.layers[0][1], plan.geometry.image, rows)
    return _run(plan, batch, goals, points, placing)


def _run(
    plan: Plan,
    batch: Batch,
    goals: Sequence[Goal] | Callable[[Any], Sequence[Goal]],
    points: list[int],
    placing: Placing,
) -> Found:
    needed = torch.tensor(plan.path.needs(points))
    rows = torch.arange(batch.size).repeat(len(needed))
    stretched = batch.rows(rows)
    watch = _watch(plan, stretched, needed, placing)
    paths = [point.module for point, _ in plan.layers]
    saving = checkpointed(plan.model, paths, plan.preset) if plan.checkpoint else nullcontext()
    with torch.enable_grad(), saving:
        with watch.hooked(plan.model), balanced(plan.preset, listener=watch):
            output = stretched.call(plan.model)
        placing.end()
        found = Found([], [], goals(output) if callable(goals) else goals, output, placing)
        for number, goal in enumerate(found.goals):
            y = goal.select(rows).scalars(output)
            watch.observers = [m.reading(plan.profile)(watch.scene) for m in plan.methods]
            # Under the caller's autocast the products of a backward would be rounded to its type.
            with torch.autocast(watch.scene.like.device.type, enabled=False):
                if watch.hears:
                    _backward(plan, watch, y, keep=number + 1 < len(found.goals))
                found.sums.append([_summed(plan, watch, o, points) for o in watch.observers])
            found.y.append(y.detach().unflatten(0, (len(needed), -1)))
    return found


def _watch(plan: Plan, batch: Batch, points: Tensor, placing: Placing) -> Watch:
    scene = Scene(
        rows=batch.size,
        layout=plan.layers[0][1],
        layers=len(plan.layers),
        reads=plan.geometry.reads,
        cls=plan.geometry.cls,
        like=_like(plan.model),
        seeds=batch.seeds(plan.seed),
    )
    keeps = plan.geometry.in_place
    return Watch(scene, plan.layers, placing, plan.path, points, plan.hears, keeps)


def _backward(plan: Plan, watch: Watch, y: Tensor, *, keep: bool) -> None:
    if watch.leaf is None or not y.requires_grad:
        raise InputError(
            "no gradient reaches the explained tokens: the output does not depend on what enters "
            f"{plan.layers[0][0]}. Name where the tokens enter with start=…"
        )
    for observer in watch.observers:
        if Event.STREAM in observer.hears:
            observer.stream(watch.stream.moves)
    with balanced(plan.preset):  # a model's own checkpoints run again here
        torch.autograd.grad(y.sum(), watch.leaf, retain_graph=keep)


def _summed(plan: Plan, watch: Watch, observer: Observer, points: list[int]) -> Sum:
    """Sum over the points that count; those run for their neighbours' sake weigh nothing."""
    weights = plan.path.weights()
    w = [float(weights[k]) if k in points else 0.0 for k in watch.points.tolist()]
    accounted = observer.accounted()
    tokens, rest = observer.result()
    weight = torch.tensor(w, dtype=torch.float64).to(tokens)
    by_point = (x.unflatten(0, (len(w), -1)) for x in (tokens, rest, accounted))
    return Sum(*(torch.tensordot(weight, x, dims=1) for x in by_point))


def _like(model: nn.Module) -> Tensor:
    """Amounts are added up in float32 at least."""
    for p in model.parameters():
        if p.is_floating_point():
            wide = p.dtype if p.dtype == torch.float64 else torch.float32
            return torch.empty(0, dtype=wide, device=p.device)
    return torch.empty(0)
