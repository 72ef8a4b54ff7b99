"""Pictures made of characters: half blocks in colour, or digits where there is no colour."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from libragrad.picture.ansi import RESET, code
from libragrad.picture.colour import Pixels
from libragrad.picture.recipe import Limits, Recipe, positions

__all__ = ["beside", "columns_of", "digits", "fold", "half_blocks", "harmless"]


def half_blocks(pixels: Pixels, colours: int) -> list[str]:
    """Two rows of pixels in a line of text: the upper one inks ▀, the lower one is its paper."""
    if pixels.shape[0] % 2:
        pixels = np.concatenate([pixels, pixels[-1:]])
    lines = []
    for upper, lower in zip(pixels[::2], pixels[1::2], strict=True):
        parts, last = [], ""
        for above, below in zip(upper.tolist(), lower.tolist(), strict=True):
            now = code("ink", above, colours) + code("paper", below, colours)
            parts.append(("" if now == last else now) + "▀")
            last = now
        lines.append("".join(parts) + RESET)
    return lines


def digits(attribution: Tensor, recipe: Recipe, ends: Limits, width: int) -> list[str]:
    """A map (H, W) in ASCII, two characters a patch: its size from 1 to 9, with the sign of it.

    A patch below an eighteenth of the scale is a dot. A map wider than the room is averaged first.

    >>> from libragrad.picture.recipe import RECIPES
    >>> digits(torch.tensor([[-1.2, 0.0, 0.5, 2.0]]), RECIPES["signed"], Limits(-2.0, 2.0), 80)
    ['-5 . 2 9']
    """
    rows, columns = attribution.shape
    most = max(1, width // 2)
    if columns > most:
        size = max(1, round(rows * most / columns)), most
        attribution = F.adaptive_avg_pool2d(attribution.detach()[None, None].double(), size)[0, 0]
    shape = (attribution.shape[0], attribution.shape[1])
    place = positions(attribution[None], shape, recipe, ends)[0]
    shares = 2 * place - 1 if recipe.diverging else place
    return ["".join(_digit(share) for share in row) for row in shares.tolist()]


def _digit(share: float) -> str:
    size = round(9 * abs(share))
    return f"{'-' if share < 0 else ' '}{size}" if size else " ."


def fold(pixels: Pixels, columns: int) -> Pixels:
    """The picture averaged to so many columns, with square pixels."""
    height, width, _ = pixels.shape
    rows = max(1, round(height * columns / width))
    values = torch.from_numpy(pixels.astype(np.float64)).permute(2, 0, 1)[None]
    small = F.interpolate(values, size=(rows, columns), mode="area")[0].permute(1, 2, 0)
    return np.round(small.numpy()).astype(np.uint8)


def beside(blocks: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """Blocks of lines next to each other, each padded to its width, two spaces apart.

    >>> beside([["ab", "c"], ["d"]], [2, 1])
    ['ab  d', 'c']
    """
    height = max(len(block) for block in blocks)
    lines = []
    for i in range(height):
        parts = [
            (block[i] if i < len(block) else "") + " " * _missing(block, i, width)
            for block, width in zip(blocks, widths, strict=True)
        ]
        lines.append("  ".join(parts).rstrip(" "))
    return lines


def _missing(block: Sequence[str], line: int, width: int) -> int:
    return max(0, width - (columns_of(block[line]) if line < len(block) else 0))


def columns_of(text: str) -> int:
    r"""The columns of a terminal that a text takes: wide letters two, escape sequences none.

    >>> columns_of("\x1b[38;5;1mab\x1b[0m"), columns_of("斑馬")
    (2, 4)
    """
    count, skipping = 0, False
    for letter in text:
        if letter == "\x1b":
            skipping = True
        elif skipping:
            skipping = letter != "m"
        elif not unicodedata.combining(letter):
            count += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    return count


def harmless(text: str) -> str:
    r"""The text without the characters that could command a terminal, all but new lines.

    >>> harmless("a\x1b[31mb")
    'a [31mb'
    """
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)
