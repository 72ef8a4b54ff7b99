"""The held-out mosaics: pictures of four garments, and where each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from libragrad.models.mosaic.vit import MosaicViT

CELL = 32
EMPTY = -1


def render(
    grey: NDArray[np.uint8], tint: NDArray[np.uint8], background: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Colour pictures [M, H, W, 3] out of grey ones: background + grey · (tint − background).

    `grey` is [M, H, W], `tint` one colour a cell [M, 2, 2, 3], `background` one a picture [M, 3].

    >>> white, red = np.full((1, 2, 2), 255, np.uint8), np.full((1, 2, 2, 3), (255, 0, 0), np.uint8)
    >>> render(white, red, np.zeros((1, 3), np.uint8))[0, 0, 0].tolist()
    [255, 0, 0]
    """
    height, width = grey.shape[1] // 2, grey.shape[2] // 2
    colour = tint.astype(np.int32).repeat(height, axis=1).repeat(width, axis=2)
    ground = background.astype(np.int32)[:, None, None]
    share = grey.astype(np.int32)[..., None]
    return ((ground * (255 - share) + colour * share + 127) // 255).astype(np.uint8)


def preprocess(images: NDArray[np.uint8]) -> Tensor:
    """The model's input [M, 3, H, W] for pictures [M, H, W, 3] (or one, [H, W, 3]).

    >>> preprocess(np.zeros((64, 64, 3), np.uint8)).shape
    torch.Size([1, 3, 64, 64])
    """
    batch = images[None] if images.ndim == 3 else images
    pixels = torch.from_numpy(np.ascontiguousarray(batch)).permute(0, 3, 1, 2).float() / 255
    mean, std = (torch.tensor(v)[:, None, None] for v in (MosaicViT.mean, MosaicViT.std))
    return (pixels - mean) / std


@dataclass(frozen=True)
class MosaicData:
    """Mosaics with their truth.

    `images` [M, 64, 64, 3] are the pictures; `cells` [M, 2, 2] the class in each cell (−1: none);
    `objects` [M, 64, 64] the garments' own pixels; `labels` [M, 10] which classes are there.
    """

    images: NDArray[np.uint8]
    cells: NDArray[np.int64]
    objects: NDArray[np.bool_]
    labels: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.images)

    def names(self, index: int) -> tuple[str, ...]:
        """The classes of picture `index`, cell by cell in reading order."""
        return tuple(MosaicViT.labels[c] for c in self.cells[index].flat if c != EMPTY)

    def cell_mask(self, index: int, label: int) -> NDArray[np.bool_]:
        """The pixels [64, 64] of the cells of picture `index` that hold class `label`."""
        held: NDArray[np.bool_] = self.cells[index] == label
        return held.repeat(CELL, axis=0).repeat(CELL, axis=1)

    def object_mask(self, index: int, label: int) -> NDArray[np.bool_]:
        """The pixels [64, 64] of the garments themselves, of class `label` in picture `index`."""
        mask: NDArray[np.bool_] = self.cell_mask(index, label) & self.objects[index]
        return mask


def mosaic_images() -> MosaicData:
    """The few hundred held-out mosaics that come with the package, each of four distinct classes.

    >>> data = mosaic_images()
    >>> data.images.shape[1:], data.labels.sum(1).tolist()[:3]
    ((64, 64, 3), [4, 4, 4])
    """
    with (
        files("libragrad.models.mosaic").joinpath("mosaics.npz").open("rb") as file,
        np.load(file) as parts,
    ):
        grey, cells = parts["grey"], parts["cells"].astype(np.int64)
        images = render(grey, parts["tint"], parts["background"])
    classes = np.arange(len(MosaicViT.labels))
    labels = (cells.reshape(len(cells), 4, 1) == classes).any(axis=1)
    return MosaicData(images, cells, grey > 0, labels)
