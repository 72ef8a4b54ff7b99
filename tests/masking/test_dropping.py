"""True Token Masking: equal to −∞ on the dropped keys, for every family, to rounding."""

from __future__ import annotations

import functools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from libragrad.geometry.layout import Layout
from libragrad.masking import MinusInfinity, following, masker
from libragrad.masking.kept import Kept
from tests.masking.families import FAMILIES, GRID, build, geometry, randomised, size_of

# In transformers' eager attention the softmax is of single precision, whatever the model is.
ROUNDING = {"transformers BEiT eager": 1e-6}


@functools.cache
def dropping(name, dtype=torch.float64):
    model, found = build(name, dtype)
    size, generator = size_of(name), torch.Generator().manual_seed(1)
    images = torch.randn(3, 3, size, size, generator=generator, dtype=dtype)
    return masker(model, images, geometry=found), images


def subsets(images, k, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(images, 16, generator=generator).topk(k).indices


def by_minus_infinity(model, layout, images, keep):
    kept = torch.zeros(len(images), 16, dtype=torch.bool).scatter(1, keep, True)
    with torch.no_grad(), MinusInfinity(kept, layout):
        output = model(images)
    return getattr(output, "logits", output)


def assert_equal_to_minus_infinity(name, drop, images, keep):
    expected = by_minus_infinity(drop.forward.model, drop.forward.layout, images, keep)
    bound = ROUNDING.get(name, 1e-12) * expected.abs().max().item()
    torch.testing.assert_close(drop.predict(images, keep), expected, rtol=0, atol=bound)


@pytest.mark.parametrize("name", FAMILIES)
def test_dropping_is_minus_infinity(name):
    drop, images = dropping(name)
    assert str(drop) == "drop: tokens leave the sequence, the others keep their positions"
    whole = drop.unmasked(images).logits
    for k in (1, 2, 7, 15):
        keep = subsets(3, k, seed=k)
        assert_equal_to_minus_infinity(name, drop, images, keep)
        # Which patches are kept matters, and so does whether they are there at all.
        assert (drop.predict(images, keep) - whole).abs().max() > 1e-2 * whole.abs().max()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_keeping_everything_is_the_models_own_forward_bit_for_bit(name, dtype):
    drop, images = dropping(name, dtype)
    with torch.no_grad():
        output = drop.forward.model(images)
    own = getattr(output, "logits", output)
    assert torch.equal(drop.predict(images, torch.arange(16).expand(3, 16)), own)
    assert torch.equal(drop.unmasked(images).logits, own)


PROPERTY = ["ViT", "EVA02", "BEiT2", "transformers DINOv3", "open_clip", "class token last"]


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(PROPERTY), st.integers(1, 16), st.integers(1, 3), st.integers(0, 10**6))
def test_any_patches_of_any_images(name, k, count, seed):
    drop, images = dropping(name)
    keep = subsets(count, k, seed)
    assert_equal_to_minus_infinity(name, drop, images[:count], keep)


@pytest.mark.parametrize("name", PROPERTY)
def test_a_batch_is_its_images_one_by_one_and_the_order_of_patches_does_not_matter(name):
    drop, images = dropping(name)
    keep = subsets(3, 6, seed=5)
    together = drop.predict(images, keep)
    alone = [drop.predict(images[i : i + 1], keep[i : i + 1]) for i in range(3)]
    torch.testing.assert_close(torch.cat(alone), together, rtol=0, atol=1e-12)
    assert torch.equal(drop.predict(images, keep.flip(1)), together)


@pytest.mark.parametrize("name", ["ViT", "DeiT3", "transformers DINOv3", "BEiT shared bias"])
def test_the_prefix_alone(name):
    drop, images = dropping(name)
    nothing = torch.zeros(3, 0, dtype=torch.int64)
    if name == "BEiT shared bias":
        with pytest.raises(ValueError, match="says nothing of no patch at all: keep at least one"):
            drop.predict(images, nothing)  # its head is the mean of the patches
        return
    assert_equal_to_minus_infinity(name, drop, images, nothing)
    assert torch.equal(drop.predict(images, nothing)[0], drop.predict(images, nothing)[1])


def test_without_a_prefix_a_patch_must_stay():
    drop, images = dropping("SigLIP gap")
    with pytest.raises(ValueError, match="no token would be left: keep at least one patch"):
        drop.predict(images, torch.zeros(3, 0, dtype=torch.int64))


def test_in_a_sequence_of_the_patches_that_stay_nothing_else_is_left():
    """Independent of any −∞: the dropped patches may hold anything, and nothing changes."""
    drop, images = dropping("BEiT2")
    keep = torch.tensor([[0, 5, 10, 15]]).expand(3, 4)
    changed = images.clone().unflatten(2, (4, 16)).unflatten(4, (4, 16))
    seen = torch.zeros(4, 4, dtype=torch.bool)
    seen.view(-1)[keep[0]] = True
    changed = torch.where(seen[:, None, :, None], changed, 1e3).flatten(4, 5).flatten(2, 3)
    assert torch.equal(drop.predict(changed, keep), drop.predict(images, keep))


# ---------------------------------------------------------------------------- the trial


class Late(nn.Module):
    """Pools tokens after it adds positions as `late` says."""

    def __init__(self, late):
        super().__init__()
        self.patch, self.block = nn.Conv2d(3, 8, 16, 16), nn.Identity()
        self.late, self.position = late, nn.Parameter(torch.randn(1, 16, 8))
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        h = self.block(self.patch(x).flatten(2).transpose(1, 2))
        return self.head(self.late(h, self.position).tanh().mean(1))


def trial(late):
    model = randomised(Late(late)).double()
    found = geometry("block", Layout(GRID, 0, 2))
    return masker(model, torch.zeros(1, 3, 64, 64).double(), geometry=found)


def test_positions_that_are_added_late_follow():
    assert trial(lambda h, p: h + p).used.name == "drop"
    assert trial(lambda h, p: h.add_(p)).used.name == "drop"
    assert trial(lambda h, p: torch.mul(input=h, other=p)).used.name == "drop"
    assert trial(lambda h, p: (h.mT + p.mT).mT).used.name == "drop"


def test_a_model_that_would_be_silently_wrong_is_found_out():
    sliced = trial(lambda h, p: h + p[:, : h.shape[1]])
    assert str(sliced).startswith("zero: tokens of h₀ become 0 (not drop: it differs from −∞ on")
    counted = trial(lambda h, p: h * 16 / h.shape[1])
    assert "differs from −∞" in counted.reason


@pytest.mark.parametrize("name", ["EVA02", "BEiT2", "transformers DINOv3"])
def test_the_trial_finds_constants_that_follow_the_wrong_tokens(name, monkeypatch):
    gather = following._gathered

    def first_ones(x, change, kept):
        wrong = torch.arange(kept.patches.shape[1]).expand(len(kept.patches), -1)
        return gather(x, change, Kept.of(wrong, kept.layout))

    monkeypatch.setattr(following, "_gathered", first_ones)
    model, found = build(name)
    wrong = masker(model, torch.zeros(1, 3, size_of(name), size_of(name)).double(), geometry=found)
    assert wrong.used.name == "zero"
    assert wrong.reason.startswith("it differs from −∞ on the dropped keys by ")


def test_a_model_that_needs_its_grid_cannot_drop():
    mixed = trial(lambda h, p: (p[0] @ p[0].T) @ h)
    assert mixed.used.name == "zero"
    assert "the trial failed with RuntimeError: " in mixed.reason
    assert "grid" in trial(lambda h, p: grid(h)).reason


def grid(h):
    if h.shape[1] != 16:
        raise ValueError("where is my grid?")
    return h
