"""One method before and after LibraGrad, for all the targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch

from libragrad.app.studio import Seen, Witness
from libragrad.explaining.explanation import Explanation, joined
from libragrad.masking import Unmasked, delete
from libragrad.methods.method import Method
from libragrad.picture import Sheet, sheet
from libragrad.presets import STANDARD, Preset

__all__ = ["Comparison", "Question", "compared", "drawn", "explanations"]

Points = tuple[tuple[float, ...], ...]
"""A deletion curve for each target."""


@dataclass(frozen=True)
class Question:
    """What is asked of a picture."""

    methods: tuple[Method, ...]
    targets: tuple[int, ...]
    preset: Preset
    output: Literal["logit", "probability"] = "logit"


@dataclass(frozen=True)
class Comparison:
    """A method under the plain backward, where that makes a difference, and under LibraGrad's.

    The targets are the rows of an explanation.
    """

    method: Method
    before: Explanation | None
    after: Explanation
    before_curves: Points | None = None
    after_curves: Points | None = None

    def with_curves(self, witness: Witness, whole: Unmasked) -> Comparison:
        """Delete the patches from the most influential to the least, target by target."""
        if whole.logits.shape[1] < 2:
            return self  # the share of a single prompt is always 1
        maps = {"after": self.after.map.flatten(1)}
        if self.before is not None:
            maps["before"] = self.before.map.flatten(1)
        target = self.after.target
        if target is None:
            return self
        with torch.no_grad():
            rows = whole.rows(torch.zeros(len(target), dtype=torch.int64, device=target.device))
            curves = delete(witness.masker, rows, maps, firsts=("most",))
        points = {
            name: tuple(map(tuple, curves[name, "most"].probability(target).tolist()))
            for name in maps
        }
        return replace(self, before_curves=points.get("before"), after_curves=points["after"])


def compared(question: Question, seen: Seen, witness: Witness) -> Iterator[Comparison]:
    """The answers, method by method."""
    for method in question.methods:
        differs = method.gradient and method.preset is None and question.preset != STANDARD
        before = _explained(question, seen, witness, method, STANDARD) if differs else None
        after = _explained(question, seen, witness, method, question.preset)
        yield Comparison(method, before, after)


def explanations(comparisons: tuple[Comparison, ...]) -> list[Explanation]:
    """All of them, in the order in which they are drawn."""
    return [one for c in comparisons for one in (c.before, c.after) if one is not None]


def drawn(comparisons: tuple[Comparison, ...], scale: str, of: str) -> Sheet:
    """The sheet of all maps: a row for each target, before beside after."""
    return sheet(explanations(comparisons), "targets", scale, _curves(comparisons), of)


def _curves(comparisons: tuple[Comparison, ...]) -> list[Points] | None:
    curves = [
        points
        for c in comparisons
        for one, points in ((c.before, c.before_curves), (c.after, c.after_curves))
        if one is not None and points is not None
    ]
    return curves if len(curves) == len(explanations(comparisons)) else None


def _explained(
    question: Question, seen: Seen, witness: Witness, method: Method, preset: Preset
) -> Explanation:
    found = witness.explainer.explain(
        seen.x,
        methods=[method],
        targets=list(question.targets),
        preset=preset,
        output=question.output,
        pictures=seen.shown,
    )
    return joined(list(found))
