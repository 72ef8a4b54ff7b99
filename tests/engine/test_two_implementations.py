"""Explicit and fused attention are one function: they have the same gradients and accounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from libragrad import ALI_LRP, ATTN_LRP, CP_LRP, DECOMPX, LIBRA, Preset, audit, balanced
from tests.engine.networks import gradient, images, randomised, vit

AGREEING = [LIBRA, CP_LRP, ALI_LRP, ATTN_LRP, DECOMPX]
BY_PRESET = pytest.mark.parametrize("preset", AGREEING, ids=lambda preset: preset.name)


def explicit(model: nn.Module) -> nn.Module:
    """Put timm's attention modules on their explicit path."""
    for module in model.modules():
        if hasattr(module, "fused_attn"):
            setattr(module, "fused_attn", False)  # noqa: B010 - a module's own flag, unknown to mypy
    return model


def beit() -> nn.Module:
    """Relative position bias, layer scale, no absolute positions."""
    from timm.models.beit import Beit

    return randomised(
        Beit(
            img_size=8,
            patch_size=4,
            num_classes=3,
            embed_dim=16,
            depth=2,
            num_heads=2,
            use_abs_pos_emb=False,
            use_rel_pos_bias=True,
            init_values=0.1,
        )
    )


def eva02() -> nn.Module:
    """Rotary positions, SwiGLU with a norm inside."""
    from timm.models.eva import Eva

    return randomised(
        Eva(
            img_size=8,
            patch_size=4,
            num_classes=3,
            embed_dim=16,
            depth=2,
            num_heads=2,
            mlp_ratio=2,
            qkv_fused=False,
            swiglu_mlp=True,
            scale_mlp=True,
            use_rot_pos_emb=True,
        )
    )


IMAGE_MODELS: dict[str, Callable[[], tuple[nn.Module, nn.Module]]] = {
    "ViT": lambda: (vit(fused=False), vit(fused=True)),
    "BEiT": lambda: (explicit(beit()), beit()),
    "EVA02": lambda: (explicit(eva02()), eva02()),
}


@BY_PRESET
@pytest.mark.parametrize("build", IMAGE_MODELS.values(), ids=IMAGE_MODELS.keys())
def test_images(build, preset):
    got = []
    for model in build():
        with balanced(preset):
            got.append(gradient(model, images()))
    torch.testing.assert_close(got[0], got[1], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("build", IMAGE_MODELS.values(), ids=IMAGE_MODELS.keys())
def test_accounts_of_images(build):
    one, other = (audit(model, images(), 1) for model in build())
    same_account(one, other)
    assert "attention (fused)" in other.operations
    assert "attention (fused)" not in one.operations


def same_account(one: Any, other: Any, rounding: float = 1e-11) -> None:
    size = rounding * (1 + abs(one.inputs))
    assert one.output == pytest.approx(other.output, abs=size)
    assert one.inputs == pytest.approx(other.inputs, abs=size)
    for account in (one, other):
        assert account.relative_error < rounding
        assert account.unknown == []


IDS = torch.tensor([[5, 3, 8, 1, 9, 2], [7, 7, 2, 4, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])


def llama(implementation: str) -> nn.Module:
    """A causal decoder with grouped queries."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=11,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=16,
        use_cache=False,
        attn_implementation=implementation,
    )
    return randomised(LlamaForCausalLM(config))


def bert(implementation: str) -> nn.Module:
    """An encoder with padded tokens."""
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        vocab_size=11,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=16,
        num_labels=3,
        attn_implementation=implementation,
    )
    return randomised(BertForSequenceClassification(config))


TEXT_MODELS = {"Llama": llama, "BERT": bert}
ROUNDING = {llama: 1e-5, bert: 1e-11}  # Llama takes its norms and its eager softmax in float32
MASKS = {"masked": MASK, "full": None}
BY_MASK = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
BY_MODEL = pytest.mark.parametrize("build", TEXT_MODELS.values(), ids=TEXT_MODELS.keys())


def text(mask: Tensor | None) -> dict[str, Any]:
    return {"input_ids": IDS} if mask is None else {"input_ids": IDS, "attention_mask": mask}


def of_embeddings(model: Any, mask: Tensor | None, preset: Preset) -> Tensor:
    embedded = model.get_input_embeddings()(IDS).detach().requires_grad_()
    with balanced(preset):
        y = model(inputs_embeds=embedded, attention_mask=mask).logits[..., 1].sum()
    (g,) = torch.autograd.grad(y, embedded)
    return g


@BY_PRESET
@BY_MASK
@BY_MODEL
def test_text(build, mask, preset):
    one, other = (of_embeddings(build(kind), mask, preset) for kind in ("eager", "sdpa"))
    assert float((one - other).norm() / other.norm()) < ROUNDING[build]


@BY_MASK
@BY_MODEL
def test_accounts_of_text(build, mask):
    one, other = (audit(build(kind), text(mask), 1) for kind in ("eager", "sdpa"))
    same_account(one, other, ROUNDING[build])
    assert any(name.startswith("attention") for name in other.operations)


def test_a_causal_token_receives_nothing_from_the_future():
    model = llama("sdpa")
    embedded = model.get_input_embeddings()(IDS).detach().requires_grad_()  # type: ignore[operator]
    with balanced():
        y = model(inputs_embeds=embedded).logits[:, 2].sum()
    (g,) = torch.autograd.grad(y, embedded)
    assert g[:, :3].abs().min() > 0
    assert not g[:, 3:].any()


def test_a_masked_token_receives_nothing():
    g = of_embeddings(bert("sdpa"), MASK, LIBRA)
    assert not g[1, 4:].any()
    assert g[0].abs().min() > 0
