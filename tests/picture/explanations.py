"""Explanations made of numbers alone, for the tests of pictures."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Made:
    """The members of `libragrad.picture.Explained`, and no more."""

    map: Tensor
    unattributed: Tensor
    output: Tensor
    completeness_error: Tensor
    labels: tuple[str, ...]
    name: str
    pictures: Tensor | None


def made(
    labels: tuple[str, ...] = ("zebra",),
    name: str = "Libra FullGrad+",
    patches: tuple[int, int] = (4, 4),
    size: tuple[int, int] | None = (32, 32),
    error: float = 0.0,
    scale: float = 1.0,
    seed: int = 0,
) -> Made:
    """Random maps that add up to their output but for a share `error`."""
    generator = torch.Generator().manual_seed(seed)
    maps = scale * torch.randn(len(labels), *patches, generator=generator)
    outside = torch.full((len(labels),), 0.5 * scale)
    output = (maps.flatten(1).sum(dim=1) + outside) / (1 - error)
    pictures = None
    if size is not None:
        pictures = torch.rand(1, 3, *size, generator=generator).expand(len(labels), -1, -1, -1)
    return Made(maps, outside, output, error * output, labels, name, pictures)
