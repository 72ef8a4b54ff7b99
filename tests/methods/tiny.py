"""What the tests of methods, paths and explanations share: tiny models, pictures, one tolerance."""

from __future__ import annotations

from typing import Any

import timm
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn

from conformance.randomise import Undrawn, randomise

CLASSES = 5


def built(model: nn.Module) -> Any:
    """The same random numbers everywhere, in double precision."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):  # what an unseeded start had left would shine through
                parameter.zero_()
    randomise(model)
    return model.double().eval()


def vit(**settings: Any) -> Any:
    """timm's ViT: 4 × 4 patches, three blocks."""
    given = {"depth": 3, "embed_dim": 16, "num_heads": 2, "num_classes": CLASSES, **settings}
    return built(VisionTransformer(img_size=32, patch_size=8, **given))


def timm_model(name: str, **settings: Any) -> Any:
    with Undrawn():
        model = timm.create_model(name, num_classes=CLASSES, **settings)
    return built(model)


def pictures(count: int = 2, height: int = 32, width: int = 32, seed: int = 5) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, 3, height, width, generator=generator, dtype=torch.float64)


def agrees(a: Tensor, b: Tensor, tolerance: float = 1e-10) -> bool:
    """max |a − b| ≤ tolerance · max |b| (at least 1)."""
    if a.shape != b.shape:
        return False
    a, b = a.detach().double(), b.detach().double()
    return float((a - b).abs().max()) <= tolerance * max(1.0, float(b.abs().max()))
