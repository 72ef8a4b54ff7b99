"""The table of recipes: from attributions to positions on a colour scale.

    position = clamp(resize((rectify(map) − low) / (high − low)), 0, 1)

A recipe says what `rectify`, the limits `low` and `high`, and `resize` are. The paper's is

    clamp(bicubic(ReLU(map) / 99th percentile of ReLU(map)), 0, 1)

Position 0 is the first colour of the scale and position 1 the last, and the limits are the real
values that these two colours stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from libragrad.errors import InputError
from libragrad.picture.choice import choose

__all__ = ["RECIPES", "Limits", "Recipe", "find_recipe", "limits", "positions"]

PERCENTILE = 99.0


class Limits(NamedTuple):
    """The values at the two ends of a colour scale."""

    low: float
    high: float


@dataclass(frozen=True)
class Recipe:
    """How attributions become positions on a colour scale."""

    name: str
    summary: str
    rectify: Callable[[Tensor], Tensor]
    ends: Callable[[Tensor], Limits]
    diverging: bool
    clips: bool
    resize: Literal["bicubic", "nearest"]


def _percentile(size: Tensor) -> float:
    """The 99th percentile, or the maximum where so few places are above 0 that it is 0."""
    return float(np.percentile(size.numpy(), PERCENTILE)) or float(size.max())


_ROWS = (
    Recipe(
        name="paper",
        summary="ReLU, divided by the 99th percentile, bicubic, clamped: what is for the target",
        rectify=torch.relu,
        ends=lambda v: Limits(0.0, _percentile(v)),
        diverging=False,
        clips=True,
        resize="bicubic",
    ),
    Recipe(
        name="signed",
        summary="divided by the 99th percentile of the absolute values: for and against, around 0",
        rectify=torch.clone,
        ends=lambda v: Limits(-_percentile(v.abs()), _percentile(v.abs())),
        diverging=True,
        clips=True,
        resize="bicubic",
    ),
    Recipe(
        name="absolute",
        summary="absolute values divided by their 99th percentile: what matters either way",
        rectify=torch.abs,
        ends=lambda v: Limits(0.0, _percentile(v)),
        diverging=False,
        clips=True,
        resize="bicubic",
    ),
    Recipe(
        name="raw",
        summary="the values as they are, patch by patch, from the lowest to the highest",
        rectify=torch.clone,
        ends=lambda v: Limits(float(v.min()), float(v.max())),
        diverging=False,
        clips=False,
        resize="nearest",
    ),
)

RECIPES: Mapping[str, Recipe] = MappingProxyType({row.name: row for row in _ROWS})
"""Every recipe by its name. Read-only."""


def find_recipe(name: str) -> Recipe:
    """The recipe of that name.

    >>> find_recipe("signed").diverging
    True
    >>> find_recipe("papper")
    Traceback (most recent call last):
        ...
    libragrad.errors.InputError: no recipe 'papper'; did you mean 'paper'?
    """
    return choose("recipe", name, RECIPES)


def limits(attribution: Tensor, recipe: Recipe = RECIPES["paper"]) -> Limits:
    """The values at both ends of one colour scale for all that `attribution` holds, of any shape.

    >>> limits(torch.arange(-100.0, 101.0)[:, None])
    Limits(low=0.0, high=98.0)
    >>> limits(torch.tensor([-3.0, 1.0]), RECIPES["raw"])
    Limits(low=-3.0, high=1.0)
    """
    return recipe.ends(recipe.rectify(_checked(attribution)))


def positions(
    attribution: Tensor,
    size: tuple[int, int],
    recipe: Recipe = RECIPES["paper"],
    ends: Limits | None = None,
) -> Tensor:
    """Where each pixel lies on the colour scale, (B, *size) float64 in [0, 1].

    `attribution` holds maps (B, H, W). `ends` are the limits of a scale that several
    maps share; without them each map has its own. A map without any range lies on the colour of 0.

    >>> positions(torch.tensor([[[-1.0, 0.0], [2.0, 4.0]]]), (2, 2), ends=Limits(0, 4)).tolist()
    [[[0.0, 0.0], [0.5, 1.0]]]
    """
    if attribution.ndim != 3:
        raise InputError(f"expected maps of shape (B, H, W); got {tuple(attribution.shape)}")
    values = recipe.rectify(_checked(attribution))
    scaled = torch.stack([_between(v, ends or recipe.ends(v), recipe) for v in values])
    if recipe.resize == "nearest":
        sized = F.interpolate(scaled[:, None], size=size, mode="nearest-exact")
    else:
        sized = F.interpolate(scaled[:, None], size=size, mode="bicubic", align_corners=False)
    return sized[:, 0].clamp(0, 1)


def _between(values: Tensor, ends: Limits, recipe: Recipe) -> Tensor:
    if ends.high > ends.low:
        return (values - ends.low) / (ends.high - ends.low)
    return torch.full_like(values, 0.5 if recipe.diverging else 0.0)


def _checked(attribution: Tensor) -> Tensor:
    """The map as float64 on the CPU; a map without values or with NaN cannot be drawn."""
    values = attribution.detach().to("cpu", torch.float64)
    if values.numel() == 0:
        raise InputError(f"the map is empty: its shape is {tuple(attribution.shape)}")
    if not values.isfinite().all():
        bad = int((~values.isfinite()).sum())
        raise InputError(f"{bad} of the map's {values.numel()} values are NaN or infinite")
    return values
