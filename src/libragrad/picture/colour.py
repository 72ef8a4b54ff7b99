"""Colours: one perceptually uniform map for one-sided scales, one for signed ones.

In both, black is nothing and light is much, so that an overlay dims what does not matter and lights
up what does. Matplotlib's `inferno` is sequential; its `berlin` (Crameri, 2018) goes from blue
(against) over black to red (for). The picture below an overlay is grey: every hue is the scale's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from libragrad.errors import InputError
from libragrad.picture.extra import pictures_extra
from libragrad.picture.recipe import RECIPES, Limits, Recipe, positions

__all__ = ["LEVELS", "Pixels", "blend", "colourise", "colours", "grey", "levels", "overlay"]

Pixels = npt.NDArray[np.uint8]

LEVELS = 256


def colours(recipe: Recipe) -> Pixels:
    """The recipe's colours from the first to the last, (256, 3).

    >>> colours(RECIPES["paper"])[0].tolist()
    [0, 0, 4]
    """
    with pictures_extra():
        import matplotlib as mpl

    scale = mpl.colormaps["berlin" if recipe.diverging else "inferno"]
    # A list of them: older and newer releases count 256 levels differently from one number.
    rgba = scale(np.linspace(0.0, 1.0, LEVELS))
    return np.round(np.asarray(rgba)[:, :3] * 255).astype(np.uint8)


def levels(position: Tensor) -> Pixels:
    """Which of the 256 colours a position in [0, 1] takes, in the same shape.

    >>> levels(torch.tensor([0.0, 0.5, 1.0])).tolist()
    [0, 128, 255]
    """
    return (position * LEVELS).clamp(0, LEVELS - 1).to(torch.uint8).numpy()


def colourise(position: Tensor, recipe: Recipe) -> Pixels:
    """Positions (…, H, W) as colours (…, H, W, 3)."""
    return colours(recipe)[levels(position)]


def blend(below: Pixels, above: Pixels, opacity: float) -> Pixels:
    """opacity · above + (1 − opacity) · below.

    >>> blend(np.uint8([[[100, 0, 0]]]), np.uint8([[[200, 0, 50]]]), 0.5).tolist()
    [[[150, 0, 25]]]
    """
    if not 0 <= opacity <= 1:
        raise InputError(f"opacity is a share between 0 and 1; got {opacity}")
    mixed = opacity * above.astype(np.float64) + (1 - opacity) * below
    return np.round(mixed).astype(np.uint8)


def overlay(
    attribution: Tensor,
    picture: Pixels | None,
    recipe: Recipe = RECIPES["paper"],
    opacity: float = 0.65,
    ends: Limits | None = None,
) -> Pixels:
    """One map (H, W) in colours over its picture (H', W', 3), in the picture's size.

    Without a picture the colours stand alone, in whole pixels for each patch.
    """
    size = natural_size(attribution) if picture is None else (picture.shape[0], picture.shape[1])
    coloured = colourise(positions(attribution[None], size, recipe, ends)[0], recipe)
    return coloured if picture is None else blend(grey(picture), coloured, opacity)


def grey(picture: Pixels) -> Pixels:
    """The picture's luma, in three equal channels.

    >>> grey(np.uint8([[[255, 0, 0]]])).tolist()
    [[[76, 76, 76]]]
    """
    luma = np.round(picture @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)
    return np.repeat(luma[..., None], 3, axis=-1)


def natural_size(attribution: Tensor, least: int = 224) -> tuple[int, int]:
    """The smallest whole multiple of the map's shape with a side of at least `least` pixels.

    >>> natural_size(torch.zeros(7, 14))
    (112, 224)
    """
    height, width = attribution.shape
    times = -(-least // max(height, width))
    return height * times, width * times
