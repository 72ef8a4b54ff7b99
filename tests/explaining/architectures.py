"""Tiny versions of many architectures: the paper's eight, and others of every kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torchvision
import transformers
from timm.layers import GatedMlp, GluMlp
from timm.models.mlp_mixer import Affine, MlpMixer, ResBlock, SpatialGatingBlock
from timm.models.volo import VOLO
from torch import nn

from tests.methods.tiny import CLASSES, built, timm_model, vit
from tests.reference.tiny_turned import TurnedViT


class Architecture(NamedTuple):
    build: Callable[[], Any]
    size: tuple[int, int] = (64, 64)


def timm(name: str, size: int = 64, **settings: Any) -> Architecture:
    """A plain transformer of timm with two narrow blocks."""
    small = {"img_size": size, "embed_dim": 24, "depth": 2, "num_heads": 2, **settings}
    return Architecture(partial(timm_model, name, **small), (size, size))


def pyramid(name: str, **settings: Any) -> Architecture:
    return Architecture(partial(timm_model, name, **settings))


def mixer(**settings: Any) -> Architecture:
    return Architecture(
        lambda: built(
            MlpMixer(CLASSES, img_size=64, patch_size=16, num_blocks=2, embed_dim=24, **settings)
        )
    )


def hugging_face(name: str, **settings: Any) -> Architecture:
    config = getattr(transformers, f"{name}Config")
    model = getattr(transformers, f"{name}ForImageClassification")
    return Architecture(
        lambda: built(model(config(image_size=32, num_labels=CLASSES, **settings))), (32, 32)
    )


ONE_EACH: dict[str, Any] = {"depths": (1, 1, 1, 1)}
BERT_LIKE: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "patch_size": 8,
}

THE_PAPERS = {
    "ViT": timm("vit_tiny_patch16_224"),
    "EVA2": timm("eva02_tiny_patch14_224", 56),
    "BEiT2": timm("beitv2_base_patch16_224"),
    "FlexiViT": timm("flexivit_small"),
    "SigLIP": timm("vit_base_patch16_siglip_gap_224"),
    "CLIP": timm("vit_base_patch16_clip_224"),
    "DeiT3": timm("deit3_small_patch16_224"),
    "MLP-Mixer": mixer(mlp_ratio=(1.0, 4.0), mlp_layer=GluMlp, act_layer=nn.SiLU),
}

OTHERS = {
    "SigLIP, attention pool": timm("vit_base_patch16_siglip_224"),
    "DINOv2 with registers": timm("vit_small_patch14_reg4_dinov2", 56),
    "ViT with RoPE": timm("vit_base_patch16_rope_reg1_gap_256"),
    "DeiT, distilled": timm("deit_tiny_distilled_patch16_224"),
    "CaiT": timm("cait_xxs24_224"),
    "XCiT": timm("xcit_nano_12_p16_224"),
    "ViT, registers, not square": Architecture(
        lambda: vit(reg_tokens=2, dynamic_img_size=True), (32, 48)
    ),
    "gMLP": mixer(mlp_ratio=4, block_layer=SpatialGatingBlock, mlp_layer=GatedMlp),
    "ResMLP": mixer(
        mlp_ratio=4, block_layer=partial(ResBlock, init_values=1e-4), norm_layer=Affine
    ),
    "Swin": pyramid(
        "swin_tiny_patch4_window7_224",
        img_size=64,
        patch_size=4,
        embed_dim=16,
        depths=(2, 2),
        num_heads=(2, 2),
        window_size=4,
    ),
    "PVT": pyramid("pvt_v2_b0", embed_dims=(8, 8, 16, 16), num_heads=(1, 1, 2, 2), **ONE_EACH),
    "VOLO": Architecture(
        lambda: built(
            VOLO(
                layers=(1, 1, 1, 1),
                img_size=64,
                num_classes=CLASSES,
                embed_dims=(16, 24, 24, 24),
                num_heads=(2, 2, 2, 2),
            )
        )
    ),
    "ConvNeXt": pyramid("convnext_atto", dims=(8, 8, 16, 16), **ONE_EACH),
    "MambaOut": pyramid("mambaout_femto", dims=(8, 8, 16, 16), **ONE_EACH),
    "ResNet": pyramid("resnet10t"),
    "transformers' ViT": hugging_face("ViT", intermediate_size=32, **BERT_LIKE),
    "transformers' DINOv2": hugging_face("Dinov2", mlp_ratio=2, **BERT_LIKE),
    "transformers' Swin": hugging_face(
        "Swin", patch_size=4, embed_dim=8, depths=[2, 2], num_heads=[1, 2], window_size=4
    ),
    "torchvision's ViT": Architecture(
        lambda: built(
            torchvision.models.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=CLASSES)
        ),
        (32, 32),
    ),
    "torchvision's Swin": Architecture(
        lambda: built(
            torchvision.models.SwinTransformer(
                [4, 4], 8, [2, 2], [1, 2], [4, 4], num_classes=CLASSES
            )
        ),
        (32, 32),
    ),
    "nn.MultiheadAttention, tokens first": Architecture(
        lambda: built(TurnedViT(batch_first=False, written=True)), (24, 32)
    ),
}

SLOW = {
    "MaxViT": pyramid("maxvit_rmlp_pico_rw_256", img_size=64),
    "Hiera": Architecture(partial(timm_model, "hiera_tiny_224", stages=(1, 1, 1, 1)), (224, 224)),
}
