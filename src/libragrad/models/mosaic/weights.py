"""The trained mosaic model."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import torch

from libragrad.models import safetensors
from libragrad.models.mosaic.vit import MosaicViT


def load(weights: Path | None = None) -> MosaicViT:
    """The model in evaluation mode, with the package's weights or those of a safetensors file.

    >>> load().training
    False
    """
    shipped = files("libragrad.models.mosaic").joinpath("weights.safetensors")
    with as_file(shipped) as path:
        tensors = safetensors.read(weights or path)
    # Built without storage: nothing is drawn, so the caller's random numbers stay as they were.
    with torch.device("meta"):
        model = MosaicViT()
    model.load_state_dict(tensors, strict=True, assign=True)
    return model.eval()
