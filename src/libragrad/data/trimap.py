"""Trimaps: masks of object, background and the border between them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from libragrad.data.record import BACKGROUND, IGNORED, ClassMap
from libragrad.errors import DataError, PictureError


@dataclass(frozen=True)
class Trimap:
    """A trimap in a file: 1 is the object, which has `label`; 2 the background; 3 the border."""

    path: Path
    label: int

    def read(self) -> ClassMap:
        """The label of each pixel [H, W]."""
        values = mask_pixels(self.path)
        if values.ndim != 2 or not np.isin(values, (1, 2, 3)).all():
            raise DataError(f"{self.path} is no trimap: it must hold one number a pixel, 1, 2 or 3")
        return np.array([0, self.label, BACKGROUND, IGNORED], dtype=np.int32)[values]


def mask_pixels(path: Path) -> NDArray[np.uint8]:
    """The numbers that a mask stores: [H, W] for grey and palettes, [H, W, 3] for colours.

    A mask's numbers are names, not brightness, so nothing is converted and nothing is turned.
    """
    from PIL import Image

    try:
        with Image.open(path, formats=("PNG",)) as mask:
            if mask.mode not in {"L", "P", "RGB", "RGBA"}:
                raise ValueError(f"mode {mask.mode}, where 8 bits a channel are meant")
            return np.asarray(mask)
    except FileNotFoundError:
        raise DataError(f"{path} does not exist: the picture has no mask") from None
    except Exception as error:  # a decoder may raise anything on broken bytes
        raise PictureError(f"{path} is no sound PNG mask ({error}): get it again") from error
