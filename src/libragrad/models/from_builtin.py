"""The model that comes with the package."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

import libragrad
from libragrad.models.loaded import LoadedModel, Manifest
from libragrad.models.mosaic.data import CELL, preprocess
from libragrad.models.mosaic.vit import LABELS, MosaicViT
from libragrad.models.mosaic.weights import load as load_mosaic
from libragrad.models.preprocessing import Preprocessing
from libragrad.models.weights_file import put_weights, read_weights

if TYPE_CHECKING:
    from PIL.Image import Image, Resampling


def load(name: str, weights: Path | None, allow_pickle: bool) -> LoadedModel:
    """`mosaic`, with its own weights or those of a file."""
    if weights is None:
        model = load_mosaic()
    else:
        with torch.random.fork_rng(devices=[]):
            model = MosaicViT()
        put_weights(model, read_weights(weights, allow_pickle=allow_pickle), weights, name)
    return LoadedModel(
        model.eval(),
        Manifest(
            f"builtin:{name}",
            "libragrad",
            libragrad.__version__,
            "built in" if weights is None else weights.name,
        ),
        Preprocessing(_pixels, _nearest, MosaicViT.mean, MosaicViT.std),
        LABELS,
    )


def names() -> Iterable[str]:
    """The one model."""
    return ("mosaic",)


def _pixels(picture: Image) -> Tensor:
    from PIL.Image import Resampling

    return preprocess(np.array(_fitted(picture, Resampling.BICUBIC)))[0]


def _nearest(picture: Image) -> Image:
    from PIL.Image import Resampling

    return _fitted(picture, Resampling.NEAREST)


def _fitted(picture: Image, resampling: Resampling) -> Image:
    """The central square as 64 × 64 pixels; a mosaic is that already, and stays as it is."""
    size, side = 2 * CELL, min(picture.size)
    left, top = (picture.width - side) / 2, (picture.height - side) / 2
    box = (left, top, left + side, top + side)
    return picture.resize((size, size), resampling, box)
