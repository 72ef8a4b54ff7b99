"""Deletion curves whose answers are known."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest
import timm
import torch
from torch import nn

from libragrad.geometry.layout import Layout
from libragrad.masking import BOTH, curve_cost, delete, masker
from libragrad.metrics import FRACTIONS, accuracy_curve, aopc_curve
from libragrad.metrics.curves import agreement, drop
from libragrad.models import safetensors
from tests.masking.families import GRID, build, geometry

ASSETS = Path(__file__).parents[3] / "shared" / "assets"


class Sum(nn.Module):
    """Class 1 has the logit Σ_t x_t, class 0 has 0: each patch gives what it holds, no more."""

    def __init__(self):
        super().__init__()
        self.block = nn.Identity()

    def forward(self, x):
        h = x.unflatten(3, (4, 16)).unflatten(2, (4, 16)).mean((1, 3, 5)).flatten(1)
        return torch.cat([torch.zeros_like(h[:, :1]), self.block(h[:, :, None]).sum(1)], 1)


def transparent():
    """Two images whose patches hold known amounts, and the masker of their sum."""
    amounts = [[3, -1, 4, 1, -5, 9, 2, -6, 5, 3, 5, -8, 9, 7, -9, 3], [*range(-7, 9)]]
    a = torch.tensor(amounts, dtype=torch.float64) / 4
    x = a.view(2, 1, 4, 4).repeat_interleave(16, 2).repeat_interleave(16, 3).repeat(1, 3, 1, 1)
    return masker(Sum().eval(), x, geometry=geometry("block", Layout(GRID, 0, 2))), x, a


def test_a_sum_has_the_perfect_curve():
    model, x, a = transparent()
    assert model.used.name == "drop"
    curves = delete(model, x, {"exact": a})
    counts = [1, 3, 4, 6, 8, 9, 11, 12, 14]  # ⌊fraction · 16⌋
    for i, amounts in enumerate(a.tolist()):
        most = [sum(amounts)] + [sum(sorted(amounts)[: 16 - n]) for n in counts]
        kept = [14, 12, 11, 9, 8, 6, 4, 3, 1]  # ⌊(1 − fraction) · 16⌋
        least = [sum(amounts)] + [sum(sorted(amounts)[16 - n :]) for n in kept]
        for first, sums in zip(BOTH, (most, least), strict=True):
            expected = torch.tensor(sums, dtype=torch.float64)
            curve = curves["exact", first]
            torch.testing.assert_close(curve.logits[i, :, 1], expected, rtol=0, atol=1e-12)
            assert not curve.logits[i, :, 0].any()
            assert curve.predicted[i].tolist() == [int(total > 0) for total in sums]
            one = curve.probability(torch.tensor([1, 1]))[i]
            torch.testing.assert_close(one, expected.sigmoid(), rtol=0, atol=1e-12)
    assert curves["exact", "most"].kept == (16, *(16 - n for n in counts))
    assert curves["exact", "least"].kept == (16, *kept)
    assert curves["exact", "most"].removed == (0.0, *FRACTIONS)


def test_no_other_order_lies_below_or_above():
    model, x, a = transparent()
    generator = torch.Generator().manual_seed(0)
    rivals = {str(i): torch.randn(2, 16, generator=generator) for i in range(20)}
    curves = delete(model, x, {"exact": a, **rivals}, [*BOTH])
    for name in rivals:
        assert (curves["exact", "most"].logits <= curves[name, "most"].logits + 1e-12).all()
        assert (curves["exact", "least"].logits >= curves[name, "least"].logits - 1e-12).all()


def test_equal_attributions_go_by_position():
    model, x, a = transparent()
    flat = delete(model, x, {"flat": torch.zeros(2, 16)}, fractions=[0.25, 1 - 1 / 16])
    torch.testing.assert_close(flat["flat", "most"].logits[:, 1, 1], a[:, 4:].sum(1))
    torch.testing.assert_close(flat["flat", "most"].logits[:, 2, 1], a[:, -1])
    torch.testing.assert_close(flat["flat", "least"].logits[:, 1, 1], a[:, :12].sum(1))
    torch.testing.assert_close(flat["flat", "least"].logits[:, 2, 1], a[:, 0])


def test_the_rows_are_those_of_the_metrics():
    model, x, _ = transparent()
    generator = torch.Generator().manual_seed(4)
    curve = delete(model, x, {"a": torch.randn(2, 16, generator=generator)})["a", "most"]
    for label in (torch.tensor([0, 1]), curve.predicted[:, 0]):
        args = curve.logits[:, 0], curve.logits[:, 1:], label
        assert torch.equal(agreement(curve.predicted, label), accuracy_curve(*args))
        assert torch.equal(drop(curve.probability(label)), aopc_curve(*args))
        assert curve.probability(label).dtype == torch.float64


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_steps_share_batches_and_give_what_each_gives_alone(batch_size):
    model, found = build("BEiT2")
    x = torch.randn(3, 3, 64, 64, dtype=torch.float64)
    drops = masker(model, x, geometry=found)
    attributions = {"a": torch.randn(3, 16), "b": torch.randn(3, 16)}
    together = delete(drops, x, attributions, batch_size=batch_size)
    whole = drops.unmasked(x)
    for (name, first), curve in together.items():
        alone = delete(drops, whole, {name: attributions[name]}, [first], batch_size=3)
        torch.testing.assert_close(curve.logits, alone[name, first].logits, rtol=0, atol=1e-12)
        assert torch.equal(curve.logits[:, 0], whole.logits)


def test_what_is_run_is_what_the_cost_says():
    """Count the tokens that go through the model: a step that keeps half of them costs half."""
    model, found = build("ViT")
    x = torch.randn(2, 3, 64, 64, dtype=torch.float64)
    drops = masker(model, x, geometry=found)
    tokens = []
    model.blocks[0].register_forward_pre_hook(lambda _, args: tokens.append(args[0].shape[:2]))
    delete(drops, x, {"a": torch.randn(2, 16), "b": torch.randn(2, 16)}, batch_size=4)
    seen = sum(images * length for images, length in tokens)
    per_curve = curve_cost(drops) + curve_cost(drops, "least")
    assert seen == pytest.approx(2 * 17 * (1 + 2 * per_curve))
    assert max(images * length for images, length in tokens) <= 4 * 17
    most, least = (15, 13, 12, 10, 8, 7, 5, 4, 2), (14, 12, 11, 9, 8, 6, 4, 3, 1)
    assert {length for _, length in tokens} == {17, *(1 + k for k in (*most, *least))}


def test_an_attribution_of_another_size_is_refused():
    model, x, a = transparent()
    with pytest.raises(ValueError, match=r"attribution 'cam' must be .* = \(2, 16\), without pre"):
        delete(model, x, {"cam": torch.zeros(2, 17)})
    with pytest.raises(ValueError, match="fractions must increase strictly"):
        delete(model, x, {"cam": a}, fractions=[0.5, 0.5])


# ---------------------------------------------------------------------------- the real ViT-Tiny

needs_assets = pytest.mark.skipif(not ASSETS.exists(), reason="../shared/assets is absent")


def real_model():
    model = timm.create_model("vit_tiny_patch16_224").eval()
    weights = ASSETS / "vit_tiny_patch16_224.augreg_in21k_ft_in1k.safetensors"
    model.load_state_dict(safetensors.read(weights), strict=True)
    return model, geometry("norm_pre", Layout((14, 14), 1, 2))


def picture(path):
    from PIL import Image
    from torchvision.transforms import functional

    with Image.open(path) as opened:
        image = functional.resize(opened.convert("RGB"), 224, functional.InterpolationMode.BICUBIC)
    return (functional.to_tensor(functional.center_crop(image, 224)) - 0.5) / 0.5


@needs_assets
def test_dropping_nothing_gives_the_published_predictions():
    model, found = real_model()
    x = torch.stack([picture(ASSETS / "two_animals" / f"el{i}.png") for i in (1, 3)])
    drops = masker(model, x, geometry=found)
    logits = drops.predict(x, torch.arange(196).expand(2, 196))
    with torch.no_grad():
        assert torch.equal(logits, model(x))
    zebra, elephant = 340, 386
    shares = logits.softmax(-1)[:, [zebra, elephant]]
    published = torch.tensor([[0.42, 0.27], [0.13, 0.40]])
    torch.testing.assert_close(shares, published, rtol=0, atol=0.005)


@needs_assets
def test_real_weights_in_single_precision_agree_with_minus_infinity():
    from libragrad.masking import MinusInfinity

    model, found = real_model()
    with (ASSETS / "imagenet_val_1000" / "labels.tsv").open(newline="") as file:
        names = [row["file"] for row in csv.DictReader(file, delimiter="\t")]
    names = random.Random(0).sample(names, 4)
    x = torch.stack([picture(ASSETS / "imagenet_val_1000" / name) for name in names])
    drops = masker(model, x, geometry=found)
    keep = torch.rand(4, 196).topk(98).indices
    kept = torch.zeros(4, 196, dtype=torch.bool).scatter(1, keep, True)
    with torch.no_grad(), MinusInfinity(kept, found.start_layout):
        expected = model(x)
    torch.testing.assert_close(drops.predict(x, keep), expected, rtol=0, atol=1e-4)
