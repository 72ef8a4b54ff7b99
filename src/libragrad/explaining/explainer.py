"""`Explainer`: explains one model many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import torch
from torch import Tensor, nn

from libragrad.engine.inputs import original
from libragrad.errors import InputError, MethodError, PresetError
from libragrad.explaining.batch import Batch, Given
from libragrad.explaining.explanation import Explanation, Explanations, joined
from libragrad.explaining.options import Options
from libragrad.explaining.refusal import refusals
from libragrad.explaining.request import Request
from libragrad.geometry.discover import discover
from libragrad.geometry.geometry import Geometry
from libragrad.methods.method import Method, Profile
from libragrad.methods.table import method_of
from libragrad.observation.events import Event
from libragrad.observation.placing import Placing
from libragrad.paths import Integrated, Path, Point
from libragrad.presets import LIBRA, PRESETS, Preset
from libragrad.targets import Contrastive, Output, Target, prompted

if TYPE_CHECKING:
    from typing_extensions import Unpack

Shapes = tuple[tuple[int, ...], ...]


class Explainer:
    """Explains one model, many times: what is found out about it is found out once.

    `labels` name the model's outputs. `geometry`, or parts of it by name (`blocks`, `start`,
    `prefix`, `grid`, `cls`, as `libragrad.discover` takes them), override what a run would tell.

    >>> from libragrad.models import mosaic
    >>> model, data = mosaic.load(), mosaic.mosaic_images()
    >>> explainer = Explainer(model)
    >>> e = explainer.explain(mosaic.preprocess(data.images[0]), "predicted", method="fullgrad")
    >>> e.name, tuple(e.map.shape), bool(e.completeness < 1e-4)
    ('Libra FullGrad', (1, 16, 16), True)
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        labels: Sequence[str] | None = None,
        geometry: Geometry | None = None,
        **found: Any,
    ) -> None:
        """Remember the model; it is looked at when the first input comes."""
        self.model = original(model)
        self.labels = labels
        self._given = geometry
        self._found = found
        self._geometries: dict[Shapes, Geometry] = {}
        self.placings: dict[Any, Placing] = {}
        """Where biases belong, by the shape of the batch: found in the first pass over it."""
        self._prompted: Explainer | None = None

    def geometry(self, inputs: Given) -> Geometry:
        """Return where blocks and tokens are, for inputs of this shape. It prints as a table."""
        batch = Batch.of(inputs)
        if self._given is not None:
            return self._given
        shapes = tuple(tuple(x.shape[1:]) for x in batch.tensors())
        if shapes not in self._geometries:
            self._geometries[shapes] = discover(self.model, batch.given(), **self._found)
        return self._geometries[shapes]

    @overload
    def explain(
        self, inputs: Given, target: Target = None, **options: Unpack[Options]
    ) -> Explanation: ...
    @overload
    def explain(
        self,
        inputs: Given,
        target: Target = None,
        *,
        methods: Sequence[str | Method],
        targets: Sequence[Target] | None = None,
        **options: Unpack[Options],
    ) -> Explanations: ...
    @overload
    def explain(
        self,
        inputs: Given,
        target: Target = None,
        *,
        targets: Sequence[Target],
        **options: Unpack[Options],
    ) -> Explanations: ...
    def explain(
        self,
        inputs: Given,
        target: Target = None,
        *,
        method: str | Method = "fullgrad+",
        methods: Sequence[str | Method] | None = None,
        targets: Sequence[Target] | None = None,
        preset: Preset = LIBRA,
        path: Path | None = None,
        output: Output | Contrastive | str = Output.LOGIT,
        profile: Profile | str = Profile.LIBRARY,
        level: str | int = "tokens",
        batch_size: int | None = None,
        checkpoint: bool = False,
        pictures: Tensor | None = None,
        seed: int = 0,
    ) -> Explanation | Explanations:
        """Explain a batch; `libragrad.explain` says what each argument is."""
        if isinstance(methods, str):
            raise InputError(f"methods={methods!r} is one name: give method=, or a list of them")
        if isinstance(targets, str):
            raise InputError(f"targets={targets!r} is one label: give target=, or a list of them")
        asked = [method_of(m) for m in ([method] if methods is None else methods)]
        specs = [target] if targets is None else list(targets)
        if not asked or not specs:
            raise InputError("nothing was asked for: methods=[] and targets=[] explain nothing")
        path = path or Point()
        _check(self.model, preset, path, batch_size)
        if level == "pixels":
            _check_pixels(asked, Profile(profile))
        batch = Batch.of(inputs)
        with torch.inference_mode(False):  # a caller's would forbid the backward
            about = self._for(specs)
            with refusals(about.model, batch):
                request = Request(
                    about.model,
                    about.geometry(inputs),
                    asked,
                    preset,
                    specs,
                    output if isinstance(output, Contrastive) else Output(output),
                    _as(Profile(profile), path),
                    Profile(profile),
                    level,
                    self.labels,
                    batch_size,
                    checkpoint,
                    seed,
                )
                found = _joined(list(request.parts(batch, about.placings)))
        if pictures is not None:
            found = [replace(e, pictures=_of_each(pictures, batch)) for e in found]
        return found[0] if methods is None and targets is None else Explanations(tuple(found))

    def _for(self, targets: Sequence[Target]) -> Explainer:
        """Return the explainer of the model with the prompts that the targets speak of."""
        model = prompted(self.model, targets)
        if model is self.model:
            return self
        known = self._prompted
        if known is None or getattr(known.model, "labels", None) != getattr(model, "labels", None):
            known = Explainer(model, labels=self.labels, geometry=self._given, **self._found)
            self._prompted = known
        return known


def _as(profile: Profile, path: Path) -> Path:
    """Return the path as the profile reads it."""
    if profile is Profile.PAPER and isinstance(path, Integrated):
        return replace(path, paper=True)
    return path


def _check(model: nn.Module, preset: object, path: object, batch_size: int | None) -> None:
    if all(module.training for module in model.modules()):  # some may be so on purpose
        raise InputError(
            "the model is in training mode, in which dropout draws anew at each call and batch "
            "norm learns from it: call model.eval()"
        )
    if not isinstance(preset, Preset):
        known = ", ".join(repr(name) for name in PRESETS)
        raise PresetError(
            f"preset={preset!r} is no preset: give one such as libragrad.LIBRA, or "
            f"libragrad.PRESETS[name] with a name of {known}"
        )
    if isinstance(path, type) or not isinstance(path, Path):
        raise InputError(
            f"path={path!r} is no path: give libragrad.Point(), Integrated(steps=50) or "
            "Smooth(samples=25)"
        )
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch_size={batch_size}: at least one row must be run at a time")


def _check_pixels(methods: Sequence[Method], profile: Profile) -> None:
    for method in methods:
        if Event.ATTENTION in method.reading(profile).hears:
            raise MethodError(
                f"{method.title} does not apply to level='pixels': attention knows tokens only. "
                "Take level='tokens', or a gradient method, such as fullgrad+."
            )


def _of_each(pictures: Tensor, batch: Batch) -> Tensor:
    if pictures.dim() != 4 or len(pictures) != batch.size or pictures.shape[1] != 3:
        raise InputError(
            f"pictures= must be ({batch.size}, 3, H, W), one picture an input, with values in "
            f"[0, 1]; got {tuple(pictures.shape)}"
        )
    return pictures


def _joined(parts: list[list[Explanation]]) -> list[Explanation]:
    return [joined(group) for group in zip(*parts, strict=True)]
