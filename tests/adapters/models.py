"""Small models of random weights, in float64, and what they look at."""

from __future__ import annotations

from functools import cache

import timm
import torch
from torch import Tensor, nn


def _random(name: str, **more: int) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model: nn.Module = timm.create_model(name, num_classes=6, **more).eval().double()
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.05 * torch.randn_like(p))
    return model


@cache
def transformer() -> nn.Module:
    """A ViT of 48 × 48 pixels."""
    return _random("test_vit", img_size=48)


@cache
def convolutional() -> nn.Module:
    """A ResNet of four stages, for pictures of any size."""
    return _random("test_resnet")


def pictures(side: int, count: int = 2) -> Tensor:
    """Noise."""
    generator = torch.Generator().manual_seed(1)
    return torch.randn(count, 3, side, side, generator=generator, dtype=torch.float64)
