"""One request: what is asked of a batch, and how it is split so that it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from libragrad.explaining.batch import Batch
from libragrad.explaining.explanation import Explanation
from libragrad.explaining.level import layers_of
from libragrad.explaining.run import Plan, Sum, run
from libragrad.explaining.settings import Origin, Settings
from libragrad.geometry.geometry import Geometry
from libragrad.methods.method import Method, Profile
from libragrad.observation.placing import Placing
from libragrad.paths import Path
from libragrad.presets import Preset
from libragrad.targets import Contrastive, Goal, Output, Target, goals, labels_of

POINTS = 64
"""How many points of a path are run at a time where the caller sets no batch size."""


@dataclass(frozen=True)
class Request:
    """What is asked of one batch."""

    model: nn.Module
    geometry: Geometry
    methods: Sequence[Method]
    preset: Preset
    targets: Sequence[Target]
    output: Output | Contrastive
    path: Path
    profile: Profile
    level: str | int
    labels: Sequence[str] | None
    batch_size: int | None
    checkpoint: bool
    seed: int

    def parts(self, batch: Batch, placings: dict[Any, Placing]) -> Iterator[list[Explanation]]:
        """Explain some inputs after others; of each part, an explanation a target and method."""
        points = len(self.path.weights())
        rows = self.batch_size or (batch.size if points == 1 else POINTS)
        many = max(1, rows // points)
        for start in range(0, batch.size, many):
            yield self._part(batch, torch.arange(start, min(start + many, batch.size)), placings)

    def _part(self, batch: Batch, index: Tensor, placings: dict[Any, Placing]) -> list[Explanation]:
        part = batch.rows(index)
        specs = [_of_rows(target, index, batch.size) for target in self.targets]

        def goals_of(output: Any) -> list[Goal]:
            labels = self.labels or partial(labels_of, self.model)
            return [goals(spec, output, labels=labels, kind=self.output) for spec in specs]

        # At the point itself the pass gives the output too; a path's points are elsewhere.
        output = None if len(self.path.weights()) == 1 else _plain(self.model, part)
        chosen: Sequence[Goal] | None = None if output is None else goals_of(output)
        found: dict[int, list[Explanation]] = {}
        for preset, numbers in self._by_preset().items():
            plan = self._plan(preset, [self.methods[i] for i in numbers])
            sums, starts, goals_, output = self._along_the_path(
                plan, part, chosen or goals_of, placings, output
            )
            chosen = goals_
            for column, i in enumerate(numbers):
                found[i] = [
                    self._explanation(plan, column, goal, sums[k][column], output, starts[k])
                    for k, goal in enumerate(goals_)
                ]
        return [found[i][k] for k in range(len(specs)) for i in range(len(self.methods))]

    def _along_the_path(
        self,
        plan: Plan,
        part: Batch,
        goals_of: Sequence[Goal] | Callable[[Any], Sequence[Goal]],
        placings: dict[Any, Placing],
        output: Any,
    ) -> tuple[list[list[Sum]], list[Tensor], Sequence[Goal], Any]:
        sums: list[list[Sum]] = []
        starts: list[Tensor] = []
        count = len(self.path.weights())
        many = max(1, (self.batch_size or POINTS) // part.size)
        for first in range(0, count, many):
            points = list(range(first, min(first + many, count)))
            shape = (len(self.path.needs(points)), *(tuple(x.shape) for x in part.tensors()))
            key = (shape, plan.preset, self.level, plan.hears)
            found = run(plan, part, goals_of, points, placings.get(key))
            if found.placing.complete:
                placings[key] = found.placing
            goals_of = found.goals
            output = found.output if output is None else output
            sums = found.sums if not sums else _added(sums, found.sums)
            starts = starts or [y[0] for y in found.y]
        return sums, starts, found.goals, output

    def _by_preset(self) -> dict[Preset, list[int]]:
        """Methods whose backward is the same share it."""
        groups: dict[Preset, list[int]] = {}
        for i, method in enumerate(self.methods):
            groups.setdefault(method.preset or self.preset, []).append(i)
        return groups

    def _plan(self, preset: Preset, methods: list[Method]) -> Plan:
        return Plan(
            self.model,
            self.geometry,
            layers_of(self.geometry, self.level),
            preset,
            self.path,
            methods,
            self.profile,
            self.checkpoint,
            self.seed,
        )

    def _explanation(
        self, plan: Plan, column: int, goal: Goal, summed: Sum, output: Any, start: Tensor
    ) -> Explanation:
        tokens, rest, accounted = summed
        method, layout = plan.methods[column], plan.layers[0][1]
        with torch.no_grad():
            y = goal.scalars(output).detach().to(tokens)
        owed = goal.linear(output).to(tokens) if self.path.far_end is None else y - start.to(y)
        return Explanation(
            map=tokens[:, layout.prefix :].unflatten(1, layout.grid),
            tokens=tokens,
            unattributed=rest + tokens[:, : layout.prefix].sum(1),
            output=y,
            completeness_error=owed - accounted,
            labels=goal.labels,
            target=goal.indices,
            layout=layout,
            settings=Settings(
                method,
                self.preset,
                self.path,
                self.output,
                self.profile,
                self.level,
                self.seed,
            ),
            origin=Origin.of(self.model),
        )


def _plain(model: nn.Module, batch: Batch) -> Any:
    with torch.no_grad():
        return batch.call(model)


def _of_rows(target: Any, index: Tensor, size: int) -> Any:
    """Return the targets of some inputs of the batch, where there is one an input."""
    if isinstance(target, (Tensor, np.ndarray)) and target.ndim == 1 and len(target) == size:
        return target[index]
    if isinstance(target, (list, tuple)) and len(target) == size:
        return [target[i] for i in index.tolist()]
    return target


def _added(a: list[list[Sum]], b: list[list[Sum]]) -> list[list[Sum]]:
    return [
        [x.plus(y) for x, y in zip(row, other, strict=True)]
        for row, other in zip(a, b, strict=True)
    ]
