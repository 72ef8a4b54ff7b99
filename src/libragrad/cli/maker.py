"""From pictures to explanations, and to the sheet that is drawn of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import torch
from rich.markup import escape
from torch import Tensor

from libragrad.cli.screen import say
from libragrad.data.record import Record
from libragrad.explaining.explainer import Explainer
from libragrad.explaining.explanation import Explanation, Explanations
from libragrad.masking import Masker, delete, masker
from libragrad.methods.method import Method
from libragrad.models.preprocessing import Preprocessing
from libragrad.picture import Sheet, sheet
from libragrad.presets import STANDARD, Preset
from libragrad.targets import Target

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Made", "Maker", "Opened"]

Opened = tuple[Record, "Image"]


@dataclass(frozen=True)
class Made:
    """All that was asked of one picture: an explanation a method, with the targets in its rows."""

    record: Record
    explanations: tuple[Explanation, ...]
    curves: tuple[tuple[tuple[float, ...], ...], ...] | None
    """The points of a deletion curve for each explanation and target, if they were asked for."""
    sheet: Sheet
    lead: str
    """The name of the explanation that stands for all, where there is room for one."""


@dataclass(frozen=True)
class Maker:
    """Explains pictures as the command line asked.

    Attributes:
        explainer: of the model, or of the model with its prompts.
        preprocess: from a picture to the model's input.
        device: where the model is.
        methods: one row of the sheet each.
        targets: one column each.
        preset: the backward.
        compare: whether the plain backward stands before it.
        deletion: whether curves of deletion are drawn too.
        of: what is explained, in a word.
        options: the other arguments of `Explainer.explain`.
    """

    explainer: Explainer
    preprocess: Preprocessing
    device: torch.device
    methods: Sequence[Method]
    targets: Sequence[Target]
    preset: Preset
    compare: bool = False
    deletion: bool = False
    of: str = "logit"
    options: dict[str, Any] = field(default_factory=dict)
    _maskers: dict[torch.Size, Masker] = field(default_factory=dict, repr=False)

    def make(self, opened: Sequence[Opened]) -> list[Made]:
        """Explain these pictures in one batch, if the model takes them in one size."""
        inputs = [self.preprocess(picture) for _, picture in opened]
        if len({one.shape for one in inputs}) > 1:
            return [made for one in opened for made in self.make([one])]
        x = torch.stack(inputs)
        seen = torch.stack([torch.from_numpy(self.preprocess.shown(one)) for one in inputs])
        pictures = seen.permute(0, 3, 1, 2).double() / 255
        x = x.to(self.device)
        found = [
            item
            for preset, methods in self._backwards()
            for item in self.explainer.explain(
                x,
                methods=list(methods),
                targets=list(self.targets),
                preset=preset,
                pictures=pictures,
                **self.options,
            )
        ]
        found.sort(key=lambda item: self._place(item.settings.method))
        curves = self._deleted(x, found) if self.deletion else None
        return [self._made(record, i, found, curves) for i, (record, _) in enumerate(opened)]

    def _backwards(self) -> list[tuple[Preset, Sequence[Method]]]:
        """The backwards that are taken; the plain one only for methods that it changes."""
        if not self.compare:
            return [(self.preset, self.methods)]
        plain = [method for method in self.methods if method.gradient and method.preset is None]
        return [(STANDARD, plain), (self.preset, self.methods)]

    def _place(self, method: Method) -> int:
        return [each.key for each in self.methods].index(method.key)

    def _made(
        self,
        record: Record,
        index: int,
        found: Sequence[Explanation],
        curves: Sequence[Tensor] | None,
    ) -> Made:
        drawn = tuple(Explanations(tuple(item.one(index) for item in found)).drawn())
        lines = None
        if curves is not None:
            grouped: dict[str, list[tuple[float, ...]]] = {}
            for item, curve in zip(found, curves, strict=True):
                grouped.setdefault(item.name, []).append(tuple(curve[index].tolist()))
            lines = tuple(tuple(points) for points in grouped.values())
        rows: Literal["targets", "methods"] = "targets" if self.compare else "methods"
        lead = next(e.name for e in drawn if e.settings.preset == self.preset)
        return Made(record, drawn, lines, sheet(drawn, rows, deletion=lines, of=self.of), lead)

    def _deleted(self, x: Tensor, found: Sequence[Explanation]) -> list[Tensor]:
        """The target's probability while patches go, the most influential first."""
        model = self._masker(x)
        whole = model.unmasked(x)
        maps = {str(i): item.map.flatten(1) for i, item in enumerate(found)}
        curves = delete(model, whole, maps, firsts=("most",))
        return [
            curves[str(i), "most"].probability(item.target).cpu()
            for i, item in enumerate(found)
            if item.target is not None
        ]

    def _masker(self, x: Tensor) -> Masker:
        """The masker of inputs of this size; a trial makes it."""
        if x.shape[1:] not in self._maskers:
            geometry = self.explainer.geometry(x)
            found = masker(self.explainer.model, x, geometry=geometry)
            if found.reason:
                say(f"deletion: {escape(str(found))}")
            self._maskers[x.shape[1:]] = found
        return self._maskers[x.shape[1:]]
