"""The geometry of models of transformers, torchvision and open_clip, in tiny configurations."""

from __future__ import annotations

from typing import Any

import open_clip
import pytest
import torch
import torchvision
import transformers

from libragrad.geometry import Layout, discover
from tests.geometry.expected import CLS, LAST, MEAN, OTHER, POOL, Expected, chart, found, tokens

IMAGE: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "image_size": 32,
    "patch_size": 8,
}
TEXT: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 99,
    "pad_token_id": 0,
}
CONV: dict[str, Any] = {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}


def chain(
    path: str, layout: Layout, reads: Any, cls: int | None = None, start: str | None = None
) -> Expected:
    """Two blocks of one layout."""
    first, last = path.format(0), path.format(1)
    return Expected(start or first, layout, 2, first, last, layout, reads, cls)


PICTURES = [
    ("ViT", IMAGE, chain("vit.layers.{}", tokens(4, prefix=1), CLS, 0)),
    ("DeiT", IMAGE, chain("deit.layers.{}", tokens(4, prefix=2), CLS, 0)),
    ("Beit", IMAGE, chain("beit.layers.{}", tokens(4, prefix=1), MEAN, 0)),
    ("Dinov2", IMAGE, chain("dinov2.encoder.layer.{}", tokens(4, prefix=1), OTHER, 0)),
    (
        "Dinov2WithRegisters",
        {**IMAGE, "num_register_tokens": 4},
        chain("dinov2_with_registers.encoder.layer.{}", tokens(4, prefix=5), OTHER, 0),
    ),
    (
        "CLIP",
        {"vision_config": IMAGE},
        chain(
            "vision_model.encoder.layers.{}",
            tokens(4, prefix=1),
            MEAN,
            0,
            "vision_model.pre_layrnorm",
        ),
    ),
    ("Siglip", {"vision_config": IMAGE}, chain("vision_model.encoder.layers.{}", tokens(4), MEAN)),
    (
        "Swin",
        {
            "image_size": 32,
            "patch_size": 4,
            "embed_dim": 16,
            "depths": [1, 1],
            "num_heads": [2, 4],
            "window_size": 4,
        },
        Expected(
            "swin.embeddings.norm",
            tokens(8),
            2,
            "swin.encoder.layers.0.blocks.0",
            "swin.encoder.layers.1.blocks.0",
            tokens(4),
            MEAN,
        ),
    ),
    (
        "ResNet",
        {**CONV, "embedding_size": 8, "layer_type": "basic"},
        Expected(
            "resnet.encoder.stages.0.layers.0",
            chart(16),
            4,
            "resnet.encoder.stages.0.layers.0",
            "resnet.encoder.stages.3.layers.0",
            chart(4),
            MEAN,
        ),
    ),
]


def picture(model: Any, side: int) -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.randn(2, 3, side, side)}


@pytest.mark.parametrize(("family", "options", "expected"), PICTURES)
def test_image_classifiers_of_transformers(family, options, expected):
    config = getattr(transformers, f"{family}Config")(**options)
    torch.manual_seed(0)
    model = getattr(transformers, f"{family}ForImageClassification")(config).eval()
    geometry = discover(model, picture(model, 64 if family == "ResNet" else 32))
    assert found(geometry) == expected


def test_clip_in_transformers():
    config = transformers.CLIPConfig(vision_config=IMAGE, text_config=TEXT)
    torch.manual_seed(0)
    both = transformers.CLIPModel(config).eval()
    ids = torch.randint(3, 90, (2, 9))
    layout = tokens(4, prefix=1)
    start, path = "vision_model.pre_layrnorm", "vision_model.encoder.layers.{}"
    expected = chain(path, layout, CLS, 0, start)
    assert found(discover(both, {"input_ids": ids, **picture(both, 32)})) == expected
    tower = transformers.CLIPVisionModelWithProjection(config.vision_config).eval()
    assert found(discover(tower, picture(tower, 32))) == expected
    text = discover(both.text_model, {"input_ids": ids})
    assert text.start_layout == tokens(1, 9)
    assert text.image is None


def test_siglip_pools_by_attention():
    config = transformers.SiglipVisionConfig(**IMAGE)
    torch.manual_seed(0)
    model = transformers.SiglipVisionModel(config).eval()
    geometry = discover(model, picture(model, 32))
    assert geometry.start_layout == tokens(4)
    assert (geometry.reads, geometry.cls) == (POOL, None)


LANGUAGE = [
    (
        "BertForSequenceClassification",
        TEXT,
        chain("bert.encoder.layer.{}", tokens(1, 9), CLS, 0, "bert.embeddings.LayerNorm"),
    ),
    (
        "BertForMaskedLM",
        TEXT,
        chain("bert.encoder.layer.{}", tokens(1, 9), OTHER, None, "bert.embeddings.LayerNorm"),
    ),
    (
        "GPT2LMHeadModel",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99},
        chain("transformer.h.{}", tokens(1, 9), LAST, -1),
    ),
    ("LlamaForCausalLM", TEXT, chain("model.layers.{}", tokens(1, 9), LAST, -1)),
    ("LlamaForSequenceClassification", TEXT, chain("model.layers.{}", tokens(1, 9), LAST, -1)),
    (
        "AlbertForSequenceClassification",
        {**TEXT, "embedding_size": 16, "num_attention_heads": 4},
        Expected(
            "albert.encoder.albert_layer_groups.0.albert_layers.0",
            tokens(1, 9),
            2,
            "albert.encoder.albert_layer_groups.0.albert_layers.0",
            "albert.encoder.albert_layer_groups.0.albert_layers.0 (call 1)",
            tokens(1, 9),
            CLS,
            0,
        ),
    ),
]


@pytest.mark.parametrize(("name", "options", "expected"), LANGUAGE)
def test_language_models_of_transformers(name, options, expected):
    model_class = getattr(transformers, name)
    torch.manual_seed(0)
    model = model_class(model_class.config_class(**options)).eval()
    ids = torch.randint(3, 90, (2, 9))
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    geometry = discover(model, given)
    assert found(geometry) == expected
    assert geometry.image is None


@pytest.mark.parametrize("padding", ["left", "right"])
@pytest.mark.parametrize(
    ("name", "reads"), [("BertForMaskedLM", OTHER), ("LlamaForCausalLM", LAST)]
)
def test_padding_makes_no_model_causal(name, reads, padding):
    model_class = getattr(transformers, name)
    torch.manual_seed(0)
    model = model_class(model_class.config_class(**TEXT)).eval()
    mask = torch.ones(2, 9, dtype=torch.long)
    mask[0, slice(0, 6) if padding == "left" else slice(3, 9)] = 0
    ids = torch.randint(3, 90, (2, 9)) * mask
    assert discover(model, {"input_ids": ids, "attention_mask": mask}).reads is reads


def test_the_encoder_of_an_encoder_decoder():
    options = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
    config = transformers.T5Config(vocab_size=99, decoder_start_token_id=0, **options)
    torch.manual_seed(0)
    model = transformers.T5ForConditionalGeneration(config).eval()
    ids = torch.randint(3, 90, (2, 9))
    geometry = discover(model, {"input_ids": ids, "decoder_input_ids": ids[:, :4]})
    assert found(geometry) == Expected(
        "encoder.block.0.layer.0",
        tokens(1, 9),
        4,
        "encoder.block.0.layer.0",
        "encoder.block.1.layer.1",
        tokens(1, 9),
        POOL,
    )


def pyramid(
    start: str, layout: Layout, blocks: int, first: str, last: str, end: Layout
) -> Expected:
    return Expected(start, layout, blocks, first, last, end, MEAN)


TORCHVISION = [
    (
        lambda: torchvision.models.VisionTransformer(64, 16, 2, 2, 32, 48),
        (64, 64),
        chain("encoder.layers.encoder_layer_{}", tokens(4, prefix=1), CLS, 0),
    ),
    (
        lambda: torchvision.models.SwinTransformer([4, 4], 16, [1, 1], [2, 2], [4, 4]),
        (64, 64),
        pyramid(
            "features.0.2",
            chart(16, channel=3),
            2,
            "features.1.0",
            "features.3.0",
            chart(8, channel=3),
        ),
    ),
    (
        torchvision.models.resnet50,
        (64, 96),
        pyramid("layer1.0", chart(16, 24), 16, "layer1.0", "layer4.2", chart(2, 3)),
    ),
    (
        torchvision.models.convnext_tiny,
        (64, 64),
        pyramid("features.0.1", chart(16), 18, "features.1.0", "features.7.2", chart(2)),
    ),
    (
        torchvision.models.mobilenet_v2,
        (64, 64),
        pyramid("features.1", chart(32), 17, "features.1", "features.17", chart(2)),
    ),
]


@pytest.mark.parametrize(("build", "size", "expected"), TORCHVISION)
def test_torchvision(build, size, expected):
    torch.manual_seed(0)
    assert found(discover(build().eval(), torch.randn(2, 3, *size))) == expected


VISION: dict[str, Any] = {"layers": 2, "width": 32, "head_width": 8, "patch_size": 32}
WORDS: dict[str, Any] = {
    "context_length": 9,
    "vocab_size": 99,
    "width": 32,
    "heads": 4,
    "layers": 1,
}


def test_open_clip():
    torch.manual_seed(0)
    model = open_clip.model.CLIP(16, {**VISION, "image_size": 224}, WORDS).eval()
    image, ids = torch.randn(2, 3, 224, 224), torch.randint(1, 99, (2, 9))
    path, layout = "transformer.resblocks.{}", tokens(7, prefix=1)
    tower = discover(model.visual, image)
    assert found(tower) == chain(path, layout, CLS, 0, "ln_pre")
    whole = discover(model, (image, ids))
    assert found(whole) == chain(f"visual.{path}", layout, CLS, 0, "visual.ln_pre")


def test_open_clip_resnet_pools_by_attention():
    torch.manual_seed(0)
    vision = {"layers": [1, 1, 1, 1], "width": 8, "image_size": 64, "head_width": 8}
    model = open_clip.model.CLIP(16, vision, WORDS).eval()
    geometry = discover(model.visual, torch.randn(2, 3, 64, 64))
    assert found(geometry) == Expected(
        "layer1.0", chart(16), 4, "layer1.0", "layer4.0", chart(4), POOL
    )
