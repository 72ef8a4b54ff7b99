"""Targets as `explain` takes them: found in the output, held along a path, accounted for."""

from __future__ import annotations

from typing import Any

import open_clip
import pytest
import torch
from open_clip.tokenizer import SimpleTokenizer
from torch import nn

from libragrad.explaining.explain import explain
from libragrad.models.mosaic import MosaicViT
from libragrad.paths import Integrated
from libragrad.presets import Treatment
from libragrad.targets import Contrast, Prompt, PromptModel


class Judge(MosaicViT):
    """One logit an image, as (B,), and the name of what it stands for."""

    labels: Any = ("abnormal",)

    def forward(self, pictures):
        return super().forward(pictures)[:, 0]


@pytest.fixture(scope="module")
def pictures():
    return torch.randn(3, 3, 64, 64, generator=torch.Generator().manual_seed(0)).double()


@pytest.fixture(scope="module")
def model():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Judge(width=24, depth=2, heads=2, patch=16).eval().double()
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.1 * torch.randn_like(p))
    return model


def test_a_model_of_one_logit_has_two_classes(model, pictures):
    z = model(pictures).detach()
    e = explain(model, pictures, method="fullgrad")
    named = {True: "abnormal", False: "not abnormal"}
    assert e.labels == tuple(named[bool(one > 0)] for one in z)
    torch.testing.assert_close(e.output, z.abs(), rtol=1e-12, atol=0)
    assert e.completeness.max() < 1e-10


def test_a_path_keeps_what_each_image_was_asked_for(model, pictures):
    targets = [lambda y: 2 * y, lambda y: -y, lambda y: y + 1]
    e = explain(
        model, pictures, targets, method="input_x_grad", path=Integrated(steps=4), batch_size=5
    )
    expected = model(pictures).detach() * torch.tensor([2.0, -1.0, 1.0]) + torch.tensor([0, 0, 1.0])
    torch.testing.assert_close(e.output, expected.double(), rtol=1e-10, atol=1e-12)


def clip() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = open_clip.CLIP(
            24,
            {"layers": 2, "width": 32, "head_width": 16, "image_size": 64, "patch_size": 16},
            {"context_length": 12, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1},
        )
    ready: nn.Module = model.eval().double()
    return ready


def test_prompts_are_explained_like_classes(pictures):
    prompts, split = ["a spoon", "a fork"], SimpleTokenizer(context_length=12)
    towers = clip()
    model = PromptModel(towers, prompts, tokenizer=split)
    z = model(pictures).logits.detach()
    spoon = explain(model, pictures, Prompt("a spoon"), method="fullgrad")
    assert spoon.labels == ("a spoon",) * 3
    torch.testing.assert_close(spoon.output, z[:, 0], rtol=1e-10, atol=1e-12)
    assert spoon.completeness.max() < 1e-9
    contrast = explain(model, pictures, Contrast(*map(Prompt, prompts)), method="fullgrad")
    torch.testing.assert_close(contrast.output, z[:, 0] - z[:, 1], rtol=1e-9, atol=1e-12)
    likely = explain(model, pictures, "fork", method="fullgrad", output="probability")
    torch.testing.assert_close(likely.output, z.softmax(1)[:, 1], rtol=1e-9, atol=1e-12)
    own = PromptModel(towers, prompts, tokenizer=split, norm=Treatment.OWN)
    nothing = explain(own, pictures, Prompt("a spoon"), method="fullgrad")
    sums = nothing.map.sum((1, 2)) + nothing.unattributed
    assert (sums / nothing.output).abs().max() < 1e-9
