"""From a picture to a model's input, and from a mask to the same pixels."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

if TYPE_CHECKING:
    from PIL.Image import Image

_CODES = 1 << 16


@dataclass(frozen=True)
class Preprocessing:
    """A model's own resizing, cropping and normalisation.

    `pixels` makes the input [3, H, W] of an RGB picture. `nearest` does the same resizing and
    cropping without mixing pixels, and without normalisation, and gives an RGB picture or a tensor
    [3, H, W] of whole numbers. `mean` and `std` are those of the normalisation, one a channel.
    """

    pixels: Callable[[Image], Tensor] = field(repr=False)
    nearest: Callable[[Image], Any] = field(repr=False)
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __call__(self, picture: Image) -> Tensor:
        """The model's input [3, H, W]."""
        return self.pixels(picture.convert("RGB"))

    def mask(self, class_map: NDArray[np.int32]) -> Tensor:
        """A class map [h, w] as the model sees it: the labels [H, W], each that of one pixel.

        Padding, if the model pads, is background, −1.
        """
        from PIL import Image

        numbers = (np.asarray(class_map, np.int64) + 1) % _CODES  # background is black, 0
        colours = np.stack([numbers % 256, numbers // 256, 0 * numbers], axis=-1)
        seen = self.nearest(Image.fromarray(colours.astype(np.uint8)))
        if isinstance(seen, Tensor):
            red, green, _ = seen.long()
        else:
            red, green, _ = torch.from_numpy(np.array(seen)).permute(2, 0, 1).long()
        labels = red + 256 * green - 1
        return torch.where(labels == _CODES - 2, -2, labels)

    def shown(self, x: Tensor) -> NDArray[np.uint8]:
        """The picture [H, W, 3] that an input [3, H, W] shows: the normalisation taken back."""
        mean, std = (torch.tensor(v, dtype=x.dtype)[:, None, None] for v in (self.mean, self.std))
        colours = ((x.detach().cpu() * std + mean).clamp(0, 1) * 255).round()
        return colours.permute(1, 2, 0).to(torch.uint8).numpy()


def nearest_steps(steps: Sequence[Callable[[Any], Any]]) -> Callable[[Image], Image]:
    """The steps of a torchvision-style pipeline that move pixels, moving them without mixing.

    These are the steps up to the first that gives no picture. Where one interpolates, a copy of it
    takes the nearest pixel; where one pads, a copy pads with zeros.
    """
    from PIL.Image import Image as Picture
    from torchvision.transforms import InterpolationMode

    def unmixed(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
        changes = {"interpolation": InterpolationMode.NEAREST_EXACT, "fill": 0}
        own = {name: value for name, value in changes.items() if hasattr(step, name)}
        if not own:
            return step
        changed = copy.copy(step)
        for name, value in own.items():
            setattr(changed, name, value)
        return changed

    moving = [unmixed(step) for step in steps]

    def nearest(picture: Image) -> Image:
        for step in moving:
            moved = step(picture)
            if not isinstance(moved, Picture):
                break
            picture = moved
        return picture

    return nearest
