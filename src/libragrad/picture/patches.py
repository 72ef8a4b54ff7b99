"""The values themselves, drawn on their patches."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from torch import Tensor

from libragrad.picture.canvas import POINTS, Canvas
from libragrad.picture.colour import Pixels
from libragrad.picture.lettering import fit_size
from libragrad.picture.numeral import numeral

__all__ = ["patch_texts", "patch_values"]

LARGEST = 8.0  # points
ROOM = 0.84  # of a patch


def patch_texts(attribution: Tensor) -> tuple[list[list[str]], str]:
    """The values to one precision, and the unit that they are in where it is not 1.

    >>> import torch
    >>> patch_texts(torch.tensor([[-0.5, 0.25]]))
    ([['−0.50', '0.25']], '')
    >>> patch_texts(torch.tensor([[3e-5, -1e-6]]))
    ([['3.00', '−0.10']], '10⁻⁵')
    """
    largest = float(attribution.abs().max())
    power = math.floor(math.log10(largest)) if largest else 0
    power = 0 if -1 <= power < 3 else power
    values = (attribution.detach().double().cpu() / 10.0**power).tolist()
    places = max(0, 2 - max(0, math.floor(math.log10(largest)) - power)) if largest else 0
    texts = [[_signed(value, places) for value in row] for row in values]
    return texts, numeral(10.0**power) if power else ""


def _signed(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{places}f}"


def patch_values(
    canvas: Canvas,
    x: float,
    y: float,
    width: float,
    tall: float,
    attribution: Tensor,
    pixels: Pixels,
) -> list[str]:
    """Write each value in the middle of its patch, dark on light and light on dark.

    Returns what has to be said about their unit, if anything.
    """
    texts, unit = patch_texts(attribution)
    rows, columns = attribution.shape
    across, down = width / columns, tall / rows
    every = [text for row in texts for text in row]
    size = min(fit_size(every, across * ROOM * POINTS, LARGEST), down * POINTS * ROOM / 1.2)
    light = _luminance(pixels, rows, columns)
    for r, row in enumerate(texts):
        for c, text in enumerate(row):
            colour = "black" if light[r, c] > 0.18 else "white"
            where = x + (c + 0.5) * across, y + (r + 0.5) * down
            canvas.text(*where, [text], size, colour, across="center", down="center")
    return [f"values in {unit}"] if unit else []


def _luminance(pixels: Pixels, rows: int, columns: int) -> npt.NDArray[np.float64]:
    """The relative luminance of each patch; above 0.18, black has more contrast than white."""
    linear = (pixels / 255.0) ** 2.2 @ np.array([0.2126, 0.7152, 0.0722])
    down = np.linspace(0, pixels.shape[0], rows + 1).astype(int)
    across = np.linspace(0, pixels.shape[1], columns + 1).astype(int)
    means = [[linear[a:b, c:d].mean() for c, d in pairwise(across)] for a, b in pairwise(down)]
    return np.array(means)
