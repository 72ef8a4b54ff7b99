"""The other masks, models that cannot drop, what is refused, and a model that is left as it was."""

from __future__ import annotations

import copy
import math

import pytest
import timm
import torch
from torch import nn
from torch.overrides import _get_current_function_mode_stack

from libragrad.geometry.layout import Layout
from libragrad.masking import MASKS, find_mask, masker
from libragrad.masking.kinds import blurred
from tests.masking.families import CLASSES, GRID, TokensFirst, build, geometry, randomised

KEEP = torch.tensor([[0, 3, 7, 8, 13], [1, 2, 7, 9, 15]])


def pictures(count=2, dtype=torch.float64):
    generator = torch.Generator().manual_seed(3)
    return torch.randn(count, 3, 64, 64, generator=generator, dtype=dtype)


class Tokens(nn.Module):
    """Returns Σ_t w_t · h_t, where h_t is the patch's mean colour: everything is known by hand."""

    def __init__(self, layout="sequence"):
        super().__init__()
        self.layout, self.block = layout, nn.Identity()
        self.w = nn.Buffer(torch.arange(1.0, 17.0, dtype=torch.float64))

    def forward(self, x):
        h = x.unflatten(3, (4, 16)).unflatten(2, (4, 16)).mean((3, 5))
        if self.layout == "map":
            h = self.block(h).flatten(2).transpose(1, 2)
        elif self.layout == "tokens first":
            h = self.block(h.flatten(2).permute(2, 0, 1)).transpose(0, 1)
        else:
            h = self.block(h.flatten(2).transpose(1, 2))
        return (h * self.w[:, None]).sum(1)


LAYOUTS = {
    "sequence": Layout(GRID, 0, 2),
    "map": Layout(GRID, 0, 1),
    "tokens first": Layout(GRID, 0, 2, batch=1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_mask_on_a_model_that_is_known_by_hand(layout):
    x, model = pictures(), Tokens(layout).eval()
    h = x.unflatten(3, (4, 16)).unflatten(2, (4, 16)).mean((3, 5)).flatten(2).transpose(1, 2)
    seen = torch.zeros(2, 16, 1, dtype=torch.bool).scatter(1, KEEP[:, :, None], True)
    fillings = {
        "zero": torch.zeros(()).double(),
        "mean": h.mean(1, keepdim=True),
        "pixel_zero": torch.zeros(()).double(),
        "pixel_mean": h.mean(1, keepdim=True),
    }
    for name, filling in fillings.items():
        masked = masker(model, x, name, geometry=geometry("block", LAYOUTS[layout]))
        assert str(masked) == f"{name}: {MASKS[name].summary}"
        expected = (torch.where(seen, h, filling) * model.w[:, None]).sum(1)
        torch.testing.assert_close(masked.predict(x, KEEP), expected, rtol=0, atol=1e-12)
        assert masked.cost(5) == 1.0


def test_dropping_from_a_sum_is_zeroing():
    x, model = pictures(), Tokens().eval()
    drop = masker(model, x, geometry=geometry("block", LAYOUTS["sequence"]))
    zero = masker(model, x, "zero", geometry=geometry("block", LAYOUTS["sequence"]))
    assert drop.used.name == "drop"
    torch.testing.assert_close(drop.predict(x, KEEP), zero.predict(x, KEEP), rtol=0, atol=1e-12)
    assert drop.cost(4) == 0.25


def test_blur_is_a_gaussian_of_one_patch():
    impulse = torch.zeros(1, 1, 101, 101, dtype=torch.float64)
    impulse[0, 0, 50, 50] = 1.0
    out = blurred(impulse, (3.0, 5.0))[0, 0]
    density = [math.exp(-(i**2) / 18) / math.sqrt(18 * math.pi) for i in (0, 1, 6)]
    for i, value in zip((0, 1, 6), density, strict=True):
        assert out[50 + i].sum().item() == pytest.approx(value, rel=1e-6)
    assert out[:, 55].sum().item() == pytest.approx(math.exp(-0.5) / math.sqrt(50 * math.pi))
    even = torch.full((1, 3, 40, 56), 0.3, dtype=torch.float64)
    torch.testing.assert_close(blurred(even, (10.0, 14.0)), even, rtol=0, atol=1e-15)


def test_blur_leaves_the_kept_patches_as_they_are():
    x, found = pictures(), geometry("block", LAYOUTS["sequence"])
    model = Tokens().eval()
    blur = masker(model, x, "blur", geometry=found)
    soft = blurred(x, (16.0, 16.0))
    seen = torch.zeros(2, 16, dtype=torch.bool).scatter(1, KEEP, True)
    by_hand = torch.empty_like(x)
    for i in range(64):
        for j in range(64):
            on = seen[:, 4 * (i // 16) + j // 16][:, None]
            by_hand[:, :, i, j] = torch.where(on, x[:, :, i, j], soft[:, :, i, j])
    torch.testing.assert_close(blur.predict(x, KEEP), model(by_hand), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", MASKS)
def test_with_every_patch_kept_nothing_is_masked(name):
    model, found = build("BEiT2")
    x = pictures()
    masked = masker(model, x, name, geometry=found)
    with torch.no_grad():
        assert torch.equal(masked.predict(x, torch.arange(16).expand(2, 16)), model(x))


@pytest.mark.parametrize("name", set(MASKS) - {"drop"})
def test_what_is_masked_is_not_seen(name):
    """Zeroed patches do not matter, whatever they hold; a mean or a blur still sees them."""
    model, found = build("ViT")
    x = pictures()
    changed = x.clone()
    changed[:, :, :16, 16:32] += 1.0  # patch 1
    keep = torch.tensor([[0, 5, 6], [2, 3, 15]])
    masked = masker(model, x, name, geometry=found)
    same = torch.equal(masked.predict(x, keep), masked.predict(changed, keep))
    assert same == (name in ("zero", "pixel_zero"))


# ---------------------------------------------------------------------------- cannot drop


def mixer():
    return timm.models.MlpMixer(num_classes=CLASSES, img_size=64, num_blocks=2, embed_dim=24)


def swin():
    sizes = {"img_size": 56, "embed_dim": 12, "depths": (1, 1), "num_heads": (1, 2)}
    return timm.create_model("swin_tiny_patch4_window7_224", num_classes=CLASSES, **sizes)


def convolutional():
    return timm.create_model("resnet10t", num_classes=CLASSES)


CANNOT = {
    "Mixer": (mixer, "blocks.0", Layout((4, 4), 0, 2), 64, "the trial failed with RuntimeError: "),
    "Swin": (swin, "layers.0", Layout((14, 14), 0, 3), 56, "h₀ is a map (2, 14, 14, 12), not a se"),
    "CNN": (convolutional, "layer1.0", Layout((16, 16), 0, 1), 64, "h₀ is a map (2, 64, 16, 16)"),
}


@pytest.mark.parametrize("name", CANNOT)
def test_models_that_cannot_drop_are_zero_masked_and_say_so(name):
    make, start, layout, size, reason = CANNOT[name]
    model = randomised(make())
    x = torch.randn(2, 3, size, size, generator=torch.Generator().manual_seed(0))
    masked = masker(model, x, geometry=geometry(start, layout))
    assert masked.asked.name == "drop"
    assert masked.used.name == "zero"
    assert masked.reason.startswith(reason)
    assert str(masked).startswith(f"zero: tokens of h₀ become 0 (not drop: {reason}")
    zero = masker(model, x, "zero", geometry=geometry(start, layout))
    assert zero.reason == ""
    keep = torch.stack([torch.randperm(masked.patches)[: masked.patches // 2] for _ in range(2)])
    assert torch.equal(masked.predict(x, keep), zero.predict(x, keep))
    assert masked.cost(1) == 1.0


# ---------------------------------------------------------------------------- one start for many


class Counted(nn.Module):
    """Multiplies its logits by the size of the batch that entered."""

    def __init__(self):
        super().__init__()
        self.inner = TokensFirst()

    def forward(self, x):
        return self.inner(x) * len(x)


def test_a_model_that_looks_at_its_batch_before_the_tokens_gets_all_images():
    model, x = randomised(Counted()).double(), pictures()
    found = geometry("inner.encoder", Layout(GRID, 0, 2, batch=1))
    drop = masker(model, x, geometry=found)
    assert not drop.forward.from_one
    assert drop.used.name == "drop"
    plain = masker(model.inner, x, geometry=geometry("encoder", Layout(GRID, 0, 2, batch=1)))
    assert plain.forward.from_one
    assert torch.equal(drop.predict(x, KEEP), 2 * plain.predict(x, KEEP))


# ---------------------------------------------------------------------------- nothing is left


def hooks(model):
    return {
        (path, name): dict(found)
        for path, module in model.named_modules()
        for name, found in vars(module).items()
        if "_hooks" in name
    }


def test_the_model_is_left_as_it_was_also_after_an_exception(monkeypatch):
    model, found = build("EVA02")
    x = torch.randn(2, 3, 56, 56, dtype=torch.float64)
    before, state = hooks(model), copy.deepcopy(model.state_dict())
    grads = {name: p.requires_grad for name, p in model.named_parameters()}
    with torch.no_grad():
        output = model(x)
    drop = masker(model, x, geometry=found)
    whole = drop.unmasked(x)
    h = whole.h.clone()
    drop.predict(whole, KEEP)

    def fail(x):
        raise MemoryError("in the middle")

    with monkeypatch.context() as patch:
        patch.setattr(model.blocks[1].mlp, "forward", fail)
        with pytest.raises(MemoryError, match="in the middle"):
            drop.predict(whole, KEEP)
        with pytest.raises(MemoryError, match="in the middle"):
            drop.unmasked(x)
    assert hooks(model) == before
    assert all(torch.equal(state[key], value) for key, value in model.state_dict().items())
    assert {name: p.requires_grad for name, p in model.named_parameters()} == grads
    assert not _get_current_function_mode_stack()
    assert torch.equal(whole.h, h)
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert torch.equal(model(x), output)


# ---------------------------------------------------------------------------- what is refused


def test_one_logit_is_two_classes():
    class Single(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Tokens()

        def forward(self, x):
            return self.inner(x)[:, :1]

    x, model = pictures(), Single().eval()
    logits = masker(model, x, geometry=geometry("inner.block", LAYOUTS["sequence"])).unmasked(x)
    probability = logits.logits.softmax(-1)[:, 1]
    torch.testing.assert_close(probability, model(x)[:, 0].sigmoid(), rtol=0, atol=1e-15)


def test_a_wrong_name_gets_a_hint():
    with pytest.raises(ValueError, match="no mask 'droop'; did you mean 'drop'"):
        find_mask("droop")
    with pytest.raises(ValueError, match="no mask '17'; there are drop, zero, mean, pixel_zero"):
        masker(Tokens().eval(), pictures(), "17")


def test_what_cannot_be_masked_is_refused_in_a_sentence():
    x, found = pictures(), geometry("block", LAYOUTS["sequence"])
    with pytest.raises(ValueError, match=r"training mode, its output is random: call model\.eval"):
        masker(Tokens().train(), x, geometry=found)
    with pytest.raises(ValueError, match=r"expected images \(B, C, H, W\); got torch.int64 \(2, 5"):
        masker(Tokens().eval(), torch.zeros(2, 5, dtype=torch.int64), geometry=found)
    drop = masker(Tokens().eval(), x, geometry=found)
    with pytest.raises(ValueError, match=r"for each of 2 images, int64; got torch.int64 \(1, 5\)"):
        drop.predict(x, KEEP[:1])
    with pytest.raises(ValueError, match=r"number the 16 patches from 0, without .* got 1…16"):
        drop.predict(x, KEEP + 1)
    with pytest.raises(ValueError, match="a row of keep names a patch twice"):
        drop.predict(x, torch.tensor([[0, 1], [2, 2]]))
    with pytest.raises(ValueError, match=r"gave \(2, 16, 3\): wrap it in a module"):
        masker(
            nn.Sequential(Maps().eval()).eval(), x, geometry=geometry("0.block", found.start_layout)
        )


class Maps(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Identity()

    def forward(self, x):
        return self.block(x.unflatten(3, (4, 16)).unflatten(2, (4, 16)).mean((3, 5)).flatten(2).mT)
