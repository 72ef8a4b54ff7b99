"""Pixels as PNG files, and as addresses that hold the file itself."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

import numpy as np
from torch import Tensor

from libragrad.picture.colour import Pixels, colours, levels
from libragrad.picture.extra import pictures_extra
from libragrad.picture.recipe import Recipe

__all__ = ["data_address", "palette_png", "png"]


def png(pixels: Pixels) -> bytes:
    r"""Pixels (H, W, 3) as a PNG file.

    >>> png(np.zeros((1, 1, 3), np.uint8))[:4]
    b'\x89PNG'
    """
    with pictures_extra():
        from PIL import Image

    file = BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, "png")
    return file.getvalue()


def palette_png(position: Tensor, recipe: Recipe) -> bytes:
    """Positions (H, W) as a PNG file of one byte a pixel, whose palette is the colour scale."""
    with pictures_extra():
        from PIL import Image

    image = Image.fromarray(levels(position))
    image.putpalette(colours(recipe).tobytes())
    file = BytesIO()
    image.save(file, "png")
    return file.getvalue()


def data_address(file: bytes) -> str:
    """A `data:` address, so that a page needs no second file.

    >>> data_address(b"a")
    'data:image/png;base64,YQ=='
    """
    return f"data:image/png;base64,{b64encode(file).decode()}"
