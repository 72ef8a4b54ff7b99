"""The keywords of a call, for type checkers: `libragrad.explain` says what each of them means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from torch import Tensor

from libragrad.geometry.geometry import Geometry, Point
from libragrad.methods.method import Method, Profile
from libragrad.paths import Path
from libragrad.presets import Preset
from libragrad.targets import Contrastive, Output


class Options(TypedDict, total=False):
    """How a batch is explained."""

    method: str | Method
    preset: Preset
    path: Path | None
    output: Output | Contrastive | str
    profile: Profile | str
    level: str | int
    batch_size: int | None
    checkpoint: bool
    pictures: Tensor | None
    seed: int


class ModelOptions(Options, total=False):
    """The same, and what is known of the model."""

    labels: Sequence[str] | None
    geometry: Geometry | None
    blocks: str | Sequence[str] | None
    start: str | Point | None
    prefix: int | None
    grid: tuple[int, int] | None
    cls: int | None
