"""Prompts, on random weights: what is computed is compared with the model's own forward."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import open_clip
import pytest
import torch
import transformers
from open_clip.tokenizer import SimpleTokenizer
from torch import Tensor, nn

import libragrad
from libragrad import TargetError
from libragrad.presets import Treatment
from libragrad.targets import (
    Contrast,
    Directions,
    Output,
    Prompt,
    PromptModel,
    Similarity,
    goals,
    labels_of,
    prompted,
)

PROMPTS = ("a photo of a spoon", "a photo of a fork", "two spoons")
CONTEXT = 12

split = SimpleTokenizer(context_length=CONTEXT)


def hashed(texts):
    """A tokenizer of small vocabulary: characters as token indices, the last one the largest."""
    rows = [[ord(c) % 90 + 3 for c in text[: CONTEXT - 2]] for text in texts]
    return torch.tensor([[1, *row, *[0] * (CONTEXT - 2 - len(row)), 98] for row in rows])


def of_open_clip(kind: type, text: Mapping[str, Any] = {}, **more: Any) -> nn.Module:
    vision = {"layers": 2, "width": 32, "head_width": 16, "image_size": 32, "patch_size": 8}
    size = {"context_length": CONTEXT, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2}
    model: nn.Module = kind(
        24, vision_cfg=more.pop("vision", vision), text_cfg={**size, **text}, **more
    )
    return model


TIMM = {
    "timm_model_name": "test_vit",
    "timm_pool": "",
    "timm_proj": "linear",
    "image_size": 160,
}
CONFIG = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
TEXT = CONFIG | {"vocab_size": 100, "max_position_embeddings": CONTEXT}
PICTURE = CONFIG | {"image_size": 32, "patch_size": 8}
BERT = TEXT | {"pad_token_id": 0}


def of_transformers(
    name: str, text: dict[str, Any], vision: dict[str, Any], **more: Any
) -> nn.Module:
    config = getattr(transformers, f"{name}Config")(text_config=text, vision_config=vision, **more)
    model: nn.Module = getattr(transformers, f"{name}Model")(config)
    return model


def coca() -> nn.Module:
    return of_open_clip(
        open_clip.CoCa,
        text={"embed_cls": True, "output_tokens": True},
        multimodal_cfg={"width": 32, "heads": 2, "layers": 1, "context_length": CONTEXT},
        vision={
            "layers": 2, "width": 32, "head_width": 16, "image_size": 32, "patch_size": 8,
            "attentional_pool": True, "attn_pooler_heads": 2, "output_tokens": True,
        },
    )  # fmt: skip


# Each row: a model of random weights, its tokenizer.
MODELS: dict[str, tuple[Callable[[], nn.Module], Any]] = {
    "open_clip CLIP": (functools.partial(of_open_clip, open_clip.CLIP), split),
    "open_clip SigLIP": (
        functools.partial(of_open_clip, open_clip.CustomTextCLIP, init_logit_bias=-10.0),
        split,
    ),
    "open_clip timm tower": (
        functools.partial(of_open_clip, open_clip.CustomTextCLIP, vision=TIMM),
        split,
    ),
    "open_clip CoCa": (coca, split),
    "transformers CLIP": (
        functools.partial(of_transformers, "CLIP", TEXT, PICTURE, projection_dim=24),
        hashed,
    ),
    "transformers SigLIP": (functools.partial(of_transformers, "Siglip", TEXT, PICTURE), hashed),
    "transformers AltCLIP": (
        functools.partial(
            of_transformers,
            "AltCLIP",
            BERT | {"max_position_embeddings": 32, "project_dim": 24},
            PICTURE,
            projection_dim=24,
        ),
        hashed,
    ),
    "transformers Chinese-CLIP": (
        functools.partial(of_transformers, "ChineseCLIP", BERT, PICTURE, projection_dim=24),
        hashed,
    ),
}


@functools.cache
def built(name: str) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = MODELS[name][0]().eval().double()
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.02 * torch.randn_like(p))
    return model


def prompt_model(name: str, **more: Any) -> PromptModel:
    return PromptModel(built(name), PROMPTS, tokenizer=MODELS[name][1], **more)


def pictures(count: int = 2, name: str = "") -> Tensor:
    side = 160 if "timm" in name else 32
    generator = torch.Generator().manual_seed(1)
    return torch.randn(2, 3, side, side, generator=generator, dtype=torch.float64)[:count]


def own_logits(name: str) -> Tensor:
    """The similarities that the model itself computes when it gets both, as people call it."""
    model, tokens = built(name), torch.as_tensor(MODELS[name][1](list(PROMPTS)))
    with torch.no_grad():
        if name.startswith("transformers"):
            mask = {} if "SigLIP" in name else {"attention_mask": torch.ones_like(tokens)}
            out = model(input_ids=tokens, pixel_values=pictures(name=name), **mask)
            return out.logits_per_image
        image = model.encode_image(pictures(name=name), normalize=True)  # type: ignore[operator]
        text = model.encode_text(tokens, normalize=True)  # type: ignore[operator]
        bias = model.logit_bias if getattr(model, "logit_bias", None) is not None else 0.0
        return image @ text.T * model.logit_scale.exp() + bias  # type: ignore[operator]


@pytest.mark.parametrize("name", MODELS)
def test_similarities_are_those_of_the_model_itself(name):
    with torch.no_grad():
        output = prompt_model(name)(pictures(name=name))
    assert output.logits.shape == (2, 3)
    torch.testing.assert_close(output.logits, own_logits(name), rtol=1e-10, atol=1e-10)
    assert output.features.norm(dim=1).sub(1).abs().min() > 1e-3  # not normalised


@pytest.mark.parametrize("name", MODELS)
def test_with_the_norm_constant_the_map_accounts_for_the_similarity(name):
    """y = Σ input ⊙ gradient + Σ bias ⊙ gradient + logit_bias."""
    model = prompt_model(name)
    bias = float(model(pictures(name=name)).directions.bias)
    account = libragrad.audit(model, pictures(1, name), target=1)
    assert account.output == pytest.approx(own_logits(name)[0, 1].item(), rel=1e-10)
    assert account.explained == pytest.approx(account.output - bias, rel=1e-9)


def test_a_tower_that_takes_more_than_pixels():
    """SigLIP 2 reads patches of pictures of any shape, with a mask."""
    tower = of_transformers("Siglip2", TEXT, CONFIG | {"patch_size": 8, "num_patches": 16})
    model = tower.eval().double()
    generator = torch.Generator().manual_seed(2)
    inputs = {
        "pixel_values": torch.randn(1, 12, 192, generator=generator, dtype=torch.float64),
        "pixel_attention_mask": torch.tensor([[1] * 8 + [0] * 4]),
        "spatial_shapes": torch.tensor([[2, 4]]),
    }
    with torch.no_grad():
        own = model(input_ids=hashed(PROMPTS), **inputs).logits_per_image
    ready = PromptModel(model, PROMPTS, tokenizer=hashed)
    torch.testing.assert_close(ready(**inputs).logits, own, rtol=1e-12, atol=1e-12)
    bias = float(ready(**inputs).directions.bias)
    account = libragrad.audit(ready, inputs, target=1)
    assert account.explained == pytest.approx(account.output - bias, rel=1e-9)


@pytest.mark.parametrize("name", ["open_clip CLIP", "transformers SigLIP"])
def test_with_the_norms_own_gradient_the_map_adds_up_to_nothing(name):
    account = libragrad.audit(prompt_model(name, norm=Treatment.OWN), pictures(1), target=1)
    assert account.output == pytest.approx(own_logits(name)[0, 1].item(), rel=1e-10)
    assert abs(account.explained) < 1e-10 * abs(account.output)


def similarity(norm: Treatment, bias: float = 0.0) -> Similarity:
    generator = torch.Generator().manual_seed(0)
    f = torch.randn(4, 8, generator=generator, dtype=torch.float64).requires_grad_()
    t = nn.functional.normalize(torch.randn(3, 8, generator=generator, dtype=torch.float64))
    return Similarity(f, Directions(PROMPTS, t, 100.0, bias, norm))


def test_feature_times_gradient():
    """⟨∂y/∂f, f⟩ is y with ‖f‖ constant, and exactly 0 with its own gradient."""
    for bias in (0.0, -10.0):
        output = similarity(Treatment.CONSTANT, bias)
        goal = goals(0, output)
        y = goal.scalars(output).detach()
        torch.testing.assert_close(goal.linear(output), y - bias, rtol=1e-13, atol=1e-13)
        own = similarity(Treatment.OWN, bias)
        assert torch.equal(goal.scalars(own), goal.scalars(output))
        assert goal.linear(own).abs().max() < 1e-13


def test_the_two_norms_differ_by_what_lies_along_the_feature():
    """∂y/∂f = s (t − cos f/‖f‖) / ‖f‖ with the norm's own gradient, s t / ‖f‖ without."""
    for norm in (Treatment.CONSTANT, Treatment.OWN):
        output = similarity(norm)
        f, t = output.features, output.directions.units
        (g,) = torch.autograd.grad(goals(2, output).scalars(output).sum(), f)
        n = f.detach().norm(dim=1, keepdim=True)
        unit = f.detach() / n
        along = (unit @ t[2])[:, None] * unit if norm is Treatment.OWN else 0.0
        torch.testing.assert_close(g, 100 * (t[2] - along) / n, rtol=1e-12, atol=1e-12)


def test_prompts_are_classes():
    output = similarity(Treatment.CONSTANT)
    z = output.logits.detach()
    spoon = goals(Prompt(PROMPTS[0]), output)
    assert spoon.labels == ("a photo of a spoon",) * 4
    assert torch.equal(spoon.scalars(output), z[:, 0])
    assert torch.equal(goals("fork", output).scalars(output), z[:, 1])
    assert torch.equal(goals("predicted", output).scalars(output), z.amax(1))
    contrast = goals(Contrast(Prompt(PROMPTS[0]), Prompt(PROMPTS[1])), output)
    assert contrast.labels == ("a photo of a spoon − a photo of a fork",) * 4
    assert torch.equal(contrast.scalars(output), z[:, 0] - z[:, 1])
    p = goals(2, output, kind=Output.PROBABILITY).scalars(output)
    assert torch.equal(p, z.softmax(1)[:, 2])
    assert labels_of(prompt_model("open_clip CLIP"), 3) == PROMPTS


def test_one_prompt_is_one_class():
    model = PromptModel(built("open_clip CLIP"), "a spoon", tokenizer=split)
    output = model(pictures())
    assert torch.equal(goals(0, output).scalars(output), output.logits[:, 0])
    goal = goals("predicted", output, kind="sigmoid")
    assert torch.equal(goal.scalars(output), output.logits[:, 0].sigmoid())
    with pytest.raises(TargetError, match="the softmax over a single prompt is always 1"):
        goals(0, output, kind="probability")


def test_the_model_and_the_prompts_move_together():
    model = prompt_model("open_clip CLIP").float()
    try:
        assert model(pictures().float()).logits.dtype == torch.float32
    finally:
        built("open_clip CLIP").double()


def test_nothing_is_left_behind():
    model = built("open_clip CLIP")
    before = {name: p.clone() for name, p in model.state_dict().items()}
    libragrad.audit(prompt_model("open_clip CLIP"), pictures(1), target=0)
    assert all(torch.equal(before[name], p) for name, p in model.state_dict().items())
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert not model.training


class Splits:
    """A tokenizer as transformers has them: it pads to the length that it is told."""

    model_max_length = 10**30

    def __call__(self, texts, *, padding, truncation, max_length, return_tensors):
        assert (padding, truncation, return_tensors) == ("max_length", True, "pt")
        assert max_length == CONTEXT
        tokens = hashed(texts)
        return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


class Processor:
    tokenizer = Splits()


@pytest.mark.parametrize("tokenizer", [Splits(), Processor()])
def test_tokenizers_and_processors_of_transformers(tokenizer):
    model = PromptModel(built("transformers CLIP"), PROMPTS, tokenizer=tokenizer)
    torch.testing.assert_close(
        model(pictures()).logits, own_logits("transformers CLIP"), rtol=1e-10, atol=1e-10
    )


def test_a_target_brings_its_prompts():
    model = built("open_clip CLIP")
    with pytest.raises(TargetError, match="does not say which tokenizer"):
        prompted(model, [Prompt("a spoon"), 3])
    ready = prompt_model("open_clip CLIP")
    assert prompted(ready, Prompt("a spoon")) is ready
    assert prompted(model, Contrast("a", "b")) is model


# What is made, with what, and what the error says.
ERRORS: list[tuple[Any, dict[str, Any], str]] = [
    ("open_clip CLIP", {}, "CLIP does not say which tokenizer it was trained with: pass the name"),
    (
        "open_clip CLIP",
        {"tokenizer": "ViT-B-33"},
        "open_clip knows no model 'ViT-B-33'; the nearest are ViT-B-32",
    ),
    ("transformers CLIP", {}, "CLIPModel was not loaded by a name, so its tokenizer is unknown"),
    ("transformers CLIP", {"tokenizer": "/nowhere"}, "the tokenizer of '/nowhere' could not be"),
    (nn.Linear(2, 2), {}, "Linear takes no prompts: looked for encode_image and encode_text, or"),
    ("open_clip CLIP", {"prompts": []}, "prompts must be one or more texts, none empty; got ()"),
    ("open_clip CLIP", {"prompts": ["a", " "]}, "none empty; got ('a', ' ')"),
    ("open_clip CLIP", {"norm": Treatment.HALVES}, "the norm is Treatment.CONSTANT or Treatment."),
]


@pytest.mark.parametrize(("model", "more", "says"), ERRORS)
def test_what_cannot_take_prompts_is_refused(model, more, says):
    model = built(model) if isinstance(model, str) else model
    prompts = more.pop("prompts", PROMPTS)
    with pytest.raises(TargetError, match=re.escape(says)):
        PromptModel(model, prompts, **more)


def test_a_prompt_that_the_model_was_not_given():
    with pytest.raises(
        TargetError, match=r"'a knife' is not among .*'a photo of a spoon', .*use PromptModel"
    ):
        goals(Prompt("a knife"), similarity(Treatment.CONSTANT))
    with pytest.raises(TargetError, match="'a knife' cannot be looked up"):
        goals(Prompt("a knife"), torch.eye(3))
