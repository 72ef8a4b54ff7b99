"""open_clip: the image tower and the text tower of the smallest configuration of every family."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from conformance.case import Skipped, Subject
from conformance.randomise import Undrawn
from conformance.tiny import tiny

CONFIGURATIONS = (
    "ViT-S-32",
    "ViT-S-32-alt",
    "ViT-B-32",
    "ViT-B-32-quickgelu",
    "ViT-B-16-plus",
    "ViT-H-14-CLIPA",
    "ViT-H-14-worldwide",
    "RN50",
    "RN50-quickgelu",
    "RN101",
    "convnext_tiny",
    "convnext_large_d",
    "swin_base_patch4_window7_224",
    "vit_medium_patch16_gap_256",
    "vit_relpos_medium_patch16_cls_224",
    "EVA01-g-14",
    "EVA02-B-16",
    "EVA02-L-14",
    "ViT-B-16-SigLIP",
    "ViT-B-16-SigLIP-i18n-256",
    "ViT-B-32-SigLIP2-256",
    "ViT-SO400M-14-SigLIP",
    "coca_ViT-B-32",
    "coca_base",
    "coca_roberta-ViT-B-32",
    "roberta-ViT-B-32",
    "xlm-roberta-base-ViT-B-32",
    "mt5-base-ViT-B-32",
    "nllb-clip-base",
    "nllb-clip-base-siglip",
    "MobileCLIP-S1",
    "MobileCLIP-B",
    "MobileCLIP2-S0",
    "MobileCLIP2-S3",
    "PE-Core-T-16-384",
    "PE-Core-S-16-384",
    "ViTamin-S",
    "ViTamin-S-LTT",
)
LENGTH, LONGEST = 12, 77
HUB = {
    "xlm-roberta": "XLMRobertaConfig",
    "roberta": "RobertaConfig",
    "mt5": "MT5Config",
    "nllb": "M2M100Config",
}
"""The configuration class of each text model that is named by its address on the hub."""


class Tower(nn.Module):
    """One side of a CLIP model, called as a model of its own."""

    clip: Any

    def __init__(self, clip: nn.Module, side: str) -> None:
        super().__init__()
        self.clip = clip
        self.side = side

    def forward(self, x: Tensor) -> Any:
        encode = self.clip.encode_image if self.side == "image" else self.clip.encode_text
        return encode(x, normalize=True)


def names() -> list[str]:
    """Two towers a configuration, `ViT-B-32/image` and `ViT-B-32/text`."""
    return [f"{name}/{side}" for name in CONFIGURATIONS for side in ("image", "text")]


def build(name: str, memory: float = float("inf")) -> Subject:
    """Build one tower; the other one, which is not called, is dropped before it costs memory."""
    configuration, side = name.rsplit("/", 1)
    create = partial(_create, configuration)
    need = 8 * _count(create, side)
    if need > memory:
        raise Skipped(f"{need / 2**30:.1f} GiB of float64 parameters, budget {memory / 2**30:.1f}")
    clip = create()
    generator = torch.Generator().manual_seed(1)
    if side == "image":
        size = clip.visual.image_size
        height, width = size if isinstance(size, tuple | list) else (size, size)
        x = torch.randn(1, 3, height, width, generator=generator)
    else:
        x = _tokens(clip, generator)
    _drop_other(clip, side)
    return Subject(Tower(clip, side).eval(), x, note=f"input {tuple(x.shape)}")


def _create(configuration: str) -> Any:
    import open_clip

    with Undrawn(), patch("open_clip.hf_model.AutoConfig.from_pretrained", _from_hub):
        return open_clip.create_model(
            configuration, pretrained=None, pretrained_hf=False, pretrained_image=False
        )


def _from_hub(name: str) -> Any:
    """A tiny configuration of the text model that a tower names; its own lies on a model hub."""
    import transformers

    family = next(family for family in HUB if family in name)
    return tiny(getattr(transformers, HUB[family]), {"max_position_embeddings": 256})


def _tokens(clip: Any, generator: torch.Generator) -> Tensor:
    """Two random captions, the second one shorter, ended and padded as the tower expects."""
    text: Any = getattr(clip, "text", clip)
    length = int(getattr(text, "context_length", 0) or getattr(clip, "context_length", 77))
    length = min(length, LONGEST)
    vocabulary = int(getattr(text, "vocab_size", 0) or getattr(clip, "vocab_size", 1000))
    pad = int(getattr(text, "pad_id", 0) or 0)
    tokens = torch.randint(5, vocabulary - 1, (2, length), generator=generator)
    tokens[:, -1] = vocabulary - 1
    tokens[1, LENGTH] = vocabulary - 1
    tokens[1, LENGTH + 1 :] = pad
    return tokens


def _drop_other(clip: Any, side: str) -> None:
    other = "visual" if side == "text" else "text"
    if isinstance(getattr(clip, other, None), nn.Module):
        setattr(clip, other, None)
    elif side == "image" and isinstance(getattr(clip, "transformer", None), nn.Module):
        clip.transformer = None
    if hasattr(clip, "text_decoder"):
        clip.text_decoder = None


def _count(create: partial[Any], side: str) -> int:
    try:
        with torch.device("meta"):
            clip = create()
    except Exception:
        return 0
    _drop_other(clip, side)
    return sum(p.numel() for p in clip.parameters())
