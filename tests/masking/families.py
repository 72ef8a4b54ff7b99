"""Small models of each family, at random weights that leave nothing zero."""

from __future__ import annotations

import timm
import torch
import transformers
from open_clip.transformer import VisionTransformer as OpenClipVisionTransformer
from torch import nn
from torchvision.models.vision_transformer import VisionTransformer as TorchvisionTransformer

from libragrad.geometry.discover import discover
from libragrad.geometry.geometry import Geometry, Point, Readout
from libragrad.geometry.layout import Layout

GRID, CLASSES = (4, 4), 7
SMALL = {"embed_dim": 24, "depth": 2, "num_heads": 3}
TINY = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 48,
    "image_size": 64,
    "patch_size": 16,
    "num_labels": CLASSES,
}


class Headed(nn.Module):
    """A vision tower with a linear head."""

    def __init__(self, tower: nn.Module, width: int = 24):
        super().__init__()
        self.tower, self.head = tower, nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.tower(x).pooler_output)


class TokensFirst(nn.Module):
    """A post-norm encoder that has the batch on axis 1, as PyTorch's own layers do by default."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 24, 16, 16)
        self.position = nn.Parameter(torch.zeros(16, 1, 24))
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(24, 3, 48), 2, enable_nested_tensor=False
        )
        self.head = nn.Linear(24, CLASSES)

    def forward(self, x):
        h = self.patch(x).flatten(2).permute(2, 0, 1) + self.position
        return self.head(self.encoder(h).mean(0))


class ClassTokenLast(nn.Module):
    """Rotary tables, a relative bias, and CLS at the end: its tokens are not in canonical order."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 24, 16, 16)
        self.cls = nn.Parameter(torch.zeros(1, 1, 24))
        self.block = nn.Identity()
        self.table = nn.Parameter(torch.zeros(16, 24))
        self.bias = nn.Parameter(torch.zeros(17, 17))
        self.head = nn.Linear(24, CLASSES)

    def forward(self, x):
        h = self.patch(x).flatten(2).transpose(1, 2)
        h = self.block(torch.cat([h, self.cls.expand(len(h), -1, -1)], 1))
        q = torch.cat([h[:, :-1] * self.table, h[:, -1:]], 1)
        return self.head(((q @ q.mT + self.bias).softmax(-1) @ h)[:, -1])


def timm_model(name, **options):
    return timm.create_model(name, num_classes=CLASSES, **{"img_size": 64, **SMALL, **options})


def transformers_model(name, attention="sdpa", **options):
    config = getattr(transformers, f"{name}Config")(
        **{**TINY, **options}, attn_implementation=attention
    )
    return getattr(transformers, f"{name}ForImageClassification")(config)


def siglip():
    vision = {key: value for key, value in TINY.items() if key != "num_labels"}
    config = transformers.SiglipConfig(vision_config=vision, num_labels=CLASSES)
    config.text_config.vocab_size = 8
    return transformers.SiglipForImageClassification(config)


def clip():
    return Headed(transformers.CLIPVisionModel(transformers.CLIPVisionConfig(**TINY)))


def dinov3():
    config = transformers.DINOv3ViTConfig(**TINY, num_register_tokens=4)
    return Headed(transformers.DINOv3ViTModel(config))


def open_clip(**options):
    return OpenClipVisionTransformer(64, 16, 24, 2, 3, 2.0, output_dim=CLASSES, **options)


def torchvision():
    return TorchvisionTransformer(64, 16, 2, 3, 24, 48, num_classes=CLASSES)


# name: (model, prefix tokens)
FAMILIES = {
    "ViT": (lambda: timm_model("vit_tiny_patch16_224"), 1),
    "ViT any size": (lambda: timm_model("vit_tiny_patch16_224", dynamic_img_size=True), 1),
    "DeiT3": (lambda: timm_model("deit3_small_patch16_224"), 1),
    "FlexiViT": (lambda: timm_model("flexivit_small"), 1),
    "CLIP": (lambda: timm_model("vit_base_patch16_clip_224"), 1),
    "SigLIP gap": (lambda: timm_model("vit_base_patch16_siglip_gap_224"), 0),
    "SigLIP map": (lambda: timm_model("vit_base_patch16_siglip_224"), 0),
    "DINOv2 registers": (lambda: timm_model("vit_small_patch14_reg4_dinov2", img_size=56), 5),
    "max and mean pool": (lambda: timm_model("vit_tiny_patch16_224", global_pool="avgmax"), 1),
    "EVA02": (lambda: timm_model("eva02_tiny_patch14_224", img_size=56), 1),
    "mixed RoPE": (lambda: timm_model("vit_small_patch16_rope_mixed_224"), 1),
    "DINOv3": (lambda: timm_model("vit_small_patch16_dinov3"), 5),
    "BEiT2": (lambda: timm_model("beitv2_base_patch16_224"), 1),
    "BEiT shared bias": (
        lambda: timm_model(
            "beit_base_patch16_224", use_rel_pos_bias=False, use_shared_rel_pos_bias=True
        ),
        1,
    ),
    "BEiT both biases": (
        lambda: timm_model("beit_base_patch16_224", use_shared_rel_pos_bias=True),
        1,
    ),
    "relative bias": (lambda: timm_model("vit_relpos_base_patch16_clsgap_224"), 1),
    "shared relative bias": (lambda: timm_model("vit_srelpos_small_patch16_224"), 0),
    "transformers ViT": (lambda: transformers_model("ViT"), 1),
    "transformers DeiT": (lambda: transformers_model("DeiT"), 2),
    "transformers BEiT": (lambda: transformers_model("Beit", use_relative_position_bias=True), 1),
    "transformers BEiT shared": (
        lambda: transformers_model(
            "Beit", use_shared_relative_position_bias=True, use_mean_pooling=False
        ),
        1,
    ),
    "transformers BEiT eager": (
        lambda: transformers_model("Beit", "eager", use_relative_position_bias=True),
        1,
    ),
    "transformers DINOv2": (lambda: transformers_model("Dinov2WithRegisters"), 5),
    "transformers DINOv3": (dinov3, 5),
    "transformers SigLIP": (siglip, 0),
    "transformers CLIP": (clip, 1),
    "torchvision ViT": (torchvision, 1),
    "open_clip": (open_clip, 1),
    "open_clip gap": (lambda: open_clip(pool_type="avg"), 1),
    "open_clip attention pool": (
        lambda: open_clip(attentional_pool=True, attn_pooler_queries=5, attn_pooler_heads=1),
        1,
    ),
    "tokens first": (TokensFirst, 0),
    "class token last": (ClassTokenLast, 1),
}


def randomised(model, seed=0):
    """Draw weights that keep the signal alive, and biases and tables that are not zero."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator, dtype=p.dtype)
            late = p.ndim < 2 or any(word in name for word in ("pos", "token", "table", "bias"))
            p.copy_(p + 0.5 * noise if late else noise * 1.5 / p[0].numel() ** 0.5)
    return model.eval()


def size_of(name):
    """Pixels of an image's side."""
    return 56 if name in ("DINOv2 registers", "EVA02") else 64


def build(name, dtype=torch.float64):
    """Return a family's model and its geometry."""
    make, prefix = FAMILIES[name]
    model = randomised(make()).to(dtype)
    if name == "class token last":
        return model, geometry("block", Layout(GRID, prefix, 2, order=(16, *range(16))))
    found = discover(model, torch.zeros(1, 3, size_of(name), size_of(name), dtype=dtype))
    assert found.start_layout == Layout(GRID, prefix, 2, batch=int(name == "tokens first"))
    return model, found


def geometry(start, layout):
    return Geometry(Point(start), layout, (), (64, 64), None, Readout.OTHER, in_place=False)
