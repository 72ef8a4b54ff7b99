"""The map's sum and what has no place on it are the logit, whatever the architecture."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from libragrad import ALI_LRP, STANDARD, Explainer, Explanation
from tests.explaining.architectures import OTHERS, SLOW, THE_PAPERS
from tests.methods.tiny import agrees, pictures

EVERY = {**THE_PAPERS, **OTHERS, **SLOW}
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in EVERY]


def off(e: Explanation) -> float:
    """|Σ map + unattributed − y| / |y|, at its largest."""
    sums = e.map.flatten(1).sum(1) + e.unattributed
    return float(((sums - e.output) / e.output).abs().max())


def logits(model: torch.nn.Module, x: Tensor) -> Tensor:
    z = model(x)
    found: Tensor = z if isinstance(z, Tensor) else z.logits
    return found.detach()


def is_the_models_own(y: Tensor, model: torch.nn.Module, x: Tensor) -> bool:
    """Bit for bit, as the model answers with or without gradients: PyTorch's kernels differ."""
    with torch.no_grad():
        plain = logits(model, x)
    return any(torch.equal(y, z[:, 1]) for z in (plain, logits(model, x)))


@pytest.mark.parametrize("name", NAMES)
def test_libra_fullgrad_is_complete_and_a_batch_is_its_pictures(name: str) -> None:
    model, x = EVERY[name].build(), pictures(2, *EVERY[name].size)
    explainer = Explainer(model)
    both = ["fullgrad", "fullgrad+"]
    e, plus = explainer.explain(x, 1, methods=both)
    assert is_the_models_own(e.output, model, x)
    assert off(e) < 1e-9
    assert float(e.completeness.max()) < 1e-9
    pixels = explainer.explain(x, 1, method="fullgrad", level="pixels")
    assert tuple(pixels.map.shape) == (2, *EVERY[name].size)
    assert off(pixels) < 1e-9
    assert float(pixels.completeness.max()) < 1e-9
    for i in range(2):
        alone, plus_alone = explainer.explain(x[i : i + 1], 1, methods=both)
        assert agrees(alone.tokens, e.tokens[i : i + 1])
        assert agrees(plus_alone.tokens, plus.tokens[i : i + 1])
        assert agrees(alone.unattributed, e.unattributed[i : i + 1])


@pytest.mark.parametrize("preset", [STANDARD, ALI_LRP], ids=lambda p: p.name)
def test_other_presets_are_not_complete_and_say_so(preset: object) -> None:
    model, x = THE_PAPERS["ViT"].build(), pictures(2, 64, 64)
    e = Explainer(model).explain(x, 1, method="fullgrad", preset=preset)  # type: ignore[call-overload]
    assert off(e) > 1e-3
    gap = e.output - e.map.flatten(1).sum(1) - e.unattributed
    assert agrees(e.completeness_error, gap)


def test_input_x_grad_owes_exactly_the_biases() -> None:
    model, x = THE_PAPERS["ViT"].build(), pictures(2, 64, 64)
    whole, part = Explainer(model).explain(x, 1, methods=["fullgrad", "input_x_grad"])
    biases = whole.tokens.sum(1) - part.tokens.sum(1)
    rest = whole.unattributed - whole.tokens[:, : whole.layout.prefix].sum(1)
    assert agrees(part.completeness_error, biases + rest)


def test_the_biases_of_a_block_are_those_that_enter_after_it() -> None:
    """FullGrad at any block is complete, with the biases from there on."""
    model, x = THE_PAPERS["ViT"].build(), pictures(2, 64, 64)
    for level in (0, 1, -1):
        e = Explainer(model).explain(x, 1, method="fullgrad", level=level)
        assert off(e) < 1e-9
