"""The geometry of timm's families, each known from its paper and its picture size."""

from __future__ import annotations

from typing import Any

import pytest
import timm
import torch

from libragrad.geometry import Layout, discover
from tests.geometry.expected import CLS, MEAN, OTHER, POOL, Expected, chart, found, plain, tokens

SMALL: dict[str, Any] = {"depth": 2, "embed_dim": 64, "num_heads": 2}
SHALLOW: dict[str, Any] = {"depths": (1, 1, 2, 1)}
PLAIN: dict[str, Any] = {}
SQUARE = (224, 224)


def stages(start: str, layout: Layout, blocks: int, first: str, last: str, end: Layout) -> Expected:
    """A pyramid whose head reads the mean."""
    return Expected(start, layout, blocks, first, last, end, MEAN)


# The paper's eight architectures.
PAPER = [
    ("vit_tiny_patch16_224", SMALL, SQUARE, plain(tokens(14, prefix=1), CLS, 0)),
    ("deit3_small_patch16_224", SMALL, SQUARE, plain(tokens(14, prefix=1), CLS, 0)),
    ("eva02_tiny_patch14_224", SMALL, SQUARE, plain(tokens(16, prefix=1), MEAN, 0)),
    ("beitv2_base_patch16_224", SMALL, SQUARE, plain(tokens(14, prefix=1), MEAN, 0)),
    ("flexivit_small", SMALL, (240, 240), plain(tokens(15, prefix=1), CLS, 0)),
    ("vit_base_patch16_siglip_224", SMALL, SQUARE, plain(tokens(14), POOL)),
    ("vit_base_patch16_siglip_gap_224", SMALL, SQUARE, plain(tokens(14), MEAN)),
    (
        "vit_base_patch16_clip_224",
        SMALL,
        SQUARE,
        plain(tokens(14, prefix=1), CLS, 0, start="norm_pre"),
    ),
    ("gmixer_24_224", PLAIN, SQUARE, plain(tokens(14), MEAN, depth=24)),
]

# One sequence from the first block to the last.
COLUMNS = [
    ("mixer_s32_224", PLAIN, SQUARE, plain(tokens(7), MEAN, depth=8)),
    ("resmlp_12_224", PLAIN, SQUARE, plain(tokens(14), MEAN, depth=12)),
    ("gmlp_ti16_224", PLAIN, SQUARE, plain(tokens(14), MEAN, depth=30)),
    (
        "vit_small_patch14_reg4_dinov2",
        {**SMALL, "img_size": 112},
        (112, 112),
        plain(tokens(8, prefix=5), CLS, 0),
    ),
    ("vit_medium_patch16_reg4_gap_256", SMALL, (256, 256), plain(tokens(16, prefix=4), MEAN)),
    ("vit_small_patch16_dinov3", SMALL, (96, 128), plain(tokens(6, 8, prefix=5), MEAN, 0)),
    ("deit_tiny_distilled_patch16_224", SMALL, SQUARE, plain(tokens(14, prefix=2), CLS, 0)),
    ("vit_tiny_r_s16_p8_224", SMALL, SQUARE, plain(tokens(7, prefix=1), CLS, 0)),
    ("cait_xxs24_224", SMALL, SQUARE, plain(tokens(14), POOL)),
    ("samvit_base_patch16_224", SMALL, SQUARE, plain(chart(14, channel=3), MEAN)),
    ("naflexvit_base_patch16_gap", SMALL, (160, 224), plain(tokens(10, 14, prefix=4), MEAN)),
    (
        "xcit_nano_12_p16_224",
        {"depth": 2},
        SQUARE,
        Expected(
            "blocks.0", tokens(14), 4, "blocks.0", "cls_attn_blocks.1", tokens(14, prefix=1), CLS, 0
        ),
    ),
    # Pictures that are not square, and patches that do not divide them.
    (
        "vit_tiny_patch16_224",
        {**SMALL, "img_size": (96, 160)},
        (96, 160),
        plain(tokens(6, 10, prefix=1), CLS, 0),
    ),
    (
        "vit_tiny_patch16_224",
        {**SMALL, "img_size": (70, 47)},
        (70, 47),
        plain(tokens(4, 2, prefix=1), CLS, 0),
    ),
    (
        "vit_tiny_patch16_224",
        {**SMALL, "dynamic_img_size": True},
        (160, 96),
        plain(tokens(10, 6, prefix=1), CLS, 0),
    ),
    (
        "vit_tiny_patch16_224",
        {**SMALL, "patch_size": (8, 32), "img_size": 96},
        (96, 96),
        plain(tokens(12, 3, prefix=1), CLS, 0),
    ),
]

PYRAMIDS = [
    (
        "swin_tiny_patch4_window7_224",
        {**SHALLOW, "embed_dim": 24},
        SQUARE,
        stages(
            "patch_embed.norm",
            chart(56, channel=3),
            5,
            "layers.0.blocks.0",
            "layers.3.blocks.0",
            chart(7, channel=3),
        ),
    ),
    (
        "swinv2_tiny_window8_256",
        {**SHALLOW, "embed_dim": 24, "num_heads": (2, 2, 2, 2)},
        (256, 256),
        stages(
            "patch_embed.norm",
            chart(64, channel=3),
            5,
            "layers.0.blocks.0",
            "layers.3.blocks.0",
            chart(8, channel=3),
        ),
    ),
    (
        "convnext_atto",
        SHALLOW,
        (64, 96),
        stages("stem.1", chart(16, 24), 5, "stages.0.blocks.0", "stages.3.blocks.0", chart(2, 3)),
    ),
    (
        "pvt_v2_b0",
        SHALLOW,
        (64, 96),
        stages(
            "patch_embed.norm",
            chart(16, 24, channel=3),
            5,
            "stages.0.blocks.0",
            "stages.3.blocks.0",
            tokens(2, 3),
        ),
    ),
    (
        "mambaout_femto",
        SHALLOW,
        (64, 64),
        stages(
            "stem.norm2",
            chart(16, channel=3),
            5,
            "stages.0.blocks.0",
            "stages.3.blocks.0",
            chart(2, channel=3),
        ),
    ),
    (
        "poolformer_s12",
        PLAIN,
        (64, 64),
        stages(
            "stages.0.blocks.0", chart(16), 12, "stages.0.blocks.0", "stages.3.blocks.1", chart(2)
        ),
    ),
    (
        "levit_128s",
        PLAIN,
        SQUARE,
        stages(
            "stages.0.blocks.0", tokens(14), 11, "stages.0.blocks.0", "stages.2.blocks.3", tokens(4)
        ),
    ),
    (
        "pit_ti_224",
        PLAIN,
        SQUARE,
        Expected(
            "transformers.0.blocks.0",
            tokens(27, prefix=1),
            12,
            "transformers.0.blocks.0",
            "transformers.2.blocks.3",
            tokens(7, prefix=1),
            CLS,
            0,
        ),
    ),
    (
        "coat_lite_tiny",
        PLAIN,
        SQUARE,
        Expected(
            "serial_blocks1.0",
            tokens(56, prefix=1),
            8,
            "serial_blocks1.0",
            "serial_blocks4.1",
            tokens(7, prefix=1),
            CLS,
            0,
        ),
    ),
    (
        "efficientformer_l1",
        {"depths": (1, 1, 1, 1)},
        SQUARE,
        stages(
            "stages.0.blocks.0", chart(56), 4, "stages.0.blocks.0", "stages.3.blocks.1", tokens(7)
        ),
    ),
    (
        "tiny_vit_5m_224",
        SHALLOW,
        SQUARE,
        stages(
            "stages.0.blocks.0",
            chart(56),
            5,
            "stages.0.blocks.0",
            "stages.3.blocks.0",
            chart(7, channel=3),
        ),
    ),
    (
        "edgenext_xx_small",
        PLAIN,
        (64, 64),
        stages("stem.1", chart(16), 12, "stages.0.blocks.0", "stages.3.blocks.1", chart(2)),
    ),
]

CONVOLUTIONS = [
    (
        "resnet18",
        PLAIN,
        (64, 96),
        stages("layer1.0", chart(16, 24), 8, "layer1.0", "layer4.1", chart(2, 3)),
    ),
    (
        "regnety_002",
        PLAIN,
        (64, 64),
        stages("s1.b1", chart(32), 13, "s1.b1", "s4.b7", chart(2)),
    ),
    (
        "mobilenetv3_small_100",
        PLAIN,
        (64, 64),
        stages("blocks.1.0", chart(16), 10, "blocks.1.0", "blocks.4.2", chart(2)),
    ),
    (
        "efficientnet_b0",
        PLAIN,
        (64, 64),
        stages("blocks.1.0", chart(32), 15, "blocks.1.0", "blocks.6.0", chart(2)),
    ),
    (
        "densenet121",
        {"block_config": (1, 1, 1, 1)},
        (64, 64),
        stages(
            "features.denseblock1",
            chart(16),
            7,
            "features.denseblock1",
            "features.denseblock4",
            chart(2),
        ),
    ),
]

LARGE = [
    (
        "vgg11",
        PLAIN,
        (64, 64),
        Expected("features.3", chart(32), 8, "features.3", "pre_logits.fc1", chart(7), OTHER),
    ),
    (
        "maxvit_pico_rw_256",
        PLAIN,
        (256, 256),
        stages(
            "stages.0.blocks.0.conv",
            chart(128),
            33,
            "stages.0.blocks.0.conv",
            "stages.3.blocks.1.attn_grid",
            chart(8, channel=3),
        ),
    ),
    (
        "coatnet_nano_rw_224",
        PLAIN,
        SQUARE,
        stages(
            "stages.0.blocks.0", chart(112), 16, "stages.0.blocks.0", "stages.3.blocks.2", chart(7)
        ),
    ),
    (
        "volo_d1_224",
        PLAIN,
        SQUARE,
        Expected(
            "network.0.0",
            chart(28, channel=3),
            18,
            "network.0.0",
            "network.4.1",
            chart(14, channel=3),
            POOL,
        ),
    ),
    (
        "mvitv2_tiny",
        PLAIN,
        SQUARE,
        stages(
            "stages.0.blocks.0", tokens(56), 10, "stages.0.blocks.0", "stages.3.blocks.1", tokens(7)
        ),
    ),
    (
        "nextvit_small",
        PLAIN,
        (64, 64),
        stages(
            "stages.0.blocks.0", chart(16), 20, "stages.0.blocks.0", "stages.3.blocks.2", chart(2)
        ),
    ),
    (
        "convmixer_768_32",
        PLAIN,
        (63, 63),
        stages("blocks.0.0", chart(9), 32, "blocks.0.0", "blocks.31.0", chart(9)),
    ),
    (
        "inception_v3",
        PLAIN,
        (160, 160),
        stages("Conv2d_2a_3x3.conv", chart(79), 15, "Conv2d_2a_3x3.conv", "Mixed_7c", chart(3)),
    ),
    (
        "focalnet_tiny_srf",
        PLAIN,
        (64, 64),
        stages("stem.norm", chart(16), 12, "layers.0.blocks.0", "layers.3.blocks.1", chart(2)),
    ),
    (
        "twins_svt_small",
        {"depths": (1, 1, 1, 1)},
        SQUARE,
        stages("patch_embeds.0.norm", tokens(56), 8, "blocks.0.0", "pos_block.3", tokens(7)),
    ),
    (
        "fastvit_t8",
        PLAIN,
        (64, 64),
        stages("stem.1", chart(32), 19, "stem.1", "final_conv", chart(2)),
    ),
]


def check(name: str, options: dict[str, Any], size: tuple[int, int], expected: Expected) -> None:
    torch.manual_seed(0)
    model = timm.create_model(name, num_classes=10, **options).eval()
    geometry = discover(model, torch.randn(2, 3, *size))
    assert found(geometry) == expected
    assert geometry.image == size
    assert not geometry.in_place


@pytest.mark.parametrize(
    ("name", "options", "size", "expected"), PAPER + COLUMNS + PYRAMIDS + CONVOLUTIONS
)
def test_the_geometry_is_found(name, options, size, expected):
    check(name, options, size, expected)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options", "size", "expected"), LARGE)
def test_the_geometry_of_larger_models_is_found(name, options, size, expected):
    check(name, options, size, expected)
