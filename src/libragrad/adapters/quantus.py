"""Quantus' `explain_func(model, inputs, targets, **kwargs)`: arrays in, arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from libragrad.adapters.entries import entries
from libragrad.explaining.explain import explain
from libragrad.geometry.resample import resize_map

Array = np.ndarray[Any, Any]


def explain_func(
    model: nn.Module,
    inputs: Array,
    targets: Array | Any,
    *,
    device: str | torch.device | None = None,
    **settings: Any,
) -> Array:
    """Return maps of the resolution of the inputs (B, 1, H, W), each with its own sum.

    `settings` are those of `libragrad.explain`: in Quantus, `explain_func_kwargs={"method": …}`. A
    target is the number of an output, as in Quantus; with a setting `output` it is a class.

    >>> from libragrad.models import mosaic
    >>> pictures = mosaic.preprocess(mosaic.mosaic_images().images[:2]).numpy()
    >>> explain_func(mosaic.MosaicViT().eval(), pictures, np.array([3, 4])).shape
    (2, 1, 64, 64)
    """
    own = next(model.parameters())
    x = torch.as_tensor(np.asarray(inputs), dtype=own.dtype, device=device or own.device)
    meant = targets if "output" in settings else entries(targets, len(x))
    found = explain(model, x, meant, **settings)
    maps: Array = resize_map(found.map, (x.shape[2], x.shape[3]))[:, None].cpu().numpy()
    return maps
