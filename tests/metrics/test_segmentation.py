"""Average precision, pointing game and mass accuracy, beside scikit-learn and by enumeration."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score  # type: ignore[import-untyped]

from libragrad.metrics import (
    average_precision,
    chance_average_precision,
    chance_share,
    mass_accuracy,
    pointing_game,
)

SEGMENTATION = [average_precision, pointing_game, mass_accuracy]


@st.composite
def maps(draw):
    """Maps and masks, (images, pixels): few distinct scores (ties) or many; no empty mask."""
    images, pixels = draw(st.integers(1, 3)), draw(st.integers(1, 40))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    levels = draw(st.sampled_from([1, 2, 5, 1000]))
    score = torch.randint(-levels, levels + 1, (images, pixels), generator=generator) / levels
    mask = torch.rand(images, pixels, generator=generator) < draw(st.floats(0, 1))
    mask[:, draw(st.integers(0, pixels - 1))] = True
    return score.double(), mask


def slow_average_precision(score, mask):
    """Σ (R_k − R_{k−1}) P_k, one threshold at a time."""
    total, recall = 0.0, 0.0
    for threshold in sorted(set(score), reverse=True):
        chosen = [inside for s, inside in zip(score, mask, strict=True) if s >= threshold]
        reached = sum(chosen) / sum(mask)
        total += (reached - recall) * sum(chosen) / len(chosen)
        recall = reached
    return total


@settings(deadline=None, max_examples=200)
@given(maps())
def test_average_precision_is_scikit_learns(case):
    score, mask = case
    ours = average_precision(score, mask).tolist()
    for ap, s, m in zip(ours, score, mask, strict=True):
        assert ap == pytest.approx(average_precision_score(m.numpy(), s.numpy()), abs=1e-13)
        assert ap == pytest.approx(slow_average_precision(s.tolist(), m.tolist()), abs=1e-13)


@settings(deadline=None, max_examples=50)
@given(maps(), st.integers(0, 10**6))
def test_invalid_pixels_are_as_if_absent(case, seed):
    score, mask = case
    valid = torch.rand(mask.shape, generator=torch.Generator().manual_seed(seed)) < 0.7
    valid |= mask & (mask.cumsum(1) == 1)  # the first pixel inside stays
    for metric in SEGMENTATION:
        together = metric(score, mask, valid).tolist()
        for one, s, m, v in zip(together, score, mask, valid, strict=True):
            assert one == pytest.approx(metric(s[v][None], m[v][None]).item(), abs=1e-13)


@settings(deadline=None, max_examples=50)
@given(maps())
def test_only_the_order_of_scores_matters_to_average_precision(case):
    score, mask = case
    assert torch.equal(average_precision(score, mask), average_precision(score.exp() * 3, mask))


def test_average_precision_of_a_large_image_is_scikit_learns():
    generator = torch.Generator().manual_seed(0)
    score = torch.randn(2, 224, 224, generator=generator)
    score[1] = (score[1] * 4).round() / 4
    mask = (torch.randn(2, 224, 224, generator=generator) + score) > 0.5
    for ap, s, m in zip(average_precision(score, mask), score, mask, strict=True):
        sklearn = average_precision_score(m.flatten().numpy(), s.flatten().numpy())
        assert ap.item() == pytest.approx(sklearn, abs=1e-13)


def test_known_average_precisions():
    mask = torch.tensor([[1, 1, 0, 0]])
    for score, ap in (
        ([4.0, 3, 2, 1], 1.0),
        ([1.0, 2, 3, 4], (1 / 3 + 2 / 4) / 2),
        ([4.0, 2, 3, 1], (1 + 2 / 3) / 2),
        ([2.0, 1, 2, 1], 0.5),
        ([0.0, -0.0, 0, -0.0], 0.5),
    ):
        assert average_precision(torch.tensor([score]), mask).item() == pytest.approx(ap, abs=1e-15)


# ---------------------------------------------------------------------------- pointing, mass


def test_known_pointing_games():
    mask = torch.tensor([[True, False, False]])
    for score, hit in (
        ([2.0, 1, 0], 1),
        ([1.0, 2, 0], 0),
        ([2.0, 2, 0], 1 / 2),
        ([-1.0] * 3, 1 / 3),
    ):
        assert pointing_game(torch.tensor([score]), mask).item() == pytest.approx(hit, abs=1e-15)


def test_the_tolerance_is_a_euclidean_distance():
    mask = torch.zeros(1, 11, 11)
    mask[0, 5, 5] = 1
    for dy, dx in ((0, 3), (2, 2), (3, 3), (0, 4), (5, 0), (-3, -4), (-4, -4)):
        score = torch.zeros(1, 11, 11)
        score[0, 5 + dy, 5 + dx] = 1
        for tolerance in range(6):
            hit = float(dy**2 + dx**2 <= tolerance**2)
            assert pointing_game(score, mask, tolerance=tolerance).item() == hit
    with pytest.raises(ValueError, match=r"needs masks \(images, height, width\); got tolerance 2"):
        pointing_game(score.flatten(1), mask.flatten(1), tolerance=2)
    with pytest.raises(ValueError, match=r"a positive number of pixels.*got tolerance -1"):
        pointing_game(score, mask, tolerance=-1)


def test_known_mass_accuracies():
    mask = torch.tensor([[1, 1, 0, 0]])
    for score, share in (
        ([1.0, 2, 1, 0], 0.75),
        ([1.0, -5, 1, -7], 0.5),
        ([0.0, 0, 1, 1], 0.0),
        ([-1.0, -2, -3, 0], 0.0),
        ([1e308, 1e308, 1e308, 1e308], 0.5),
        ([1e-320, 0, 0, 0], 1.0),
    ):
        one = torch.tensor([score], dtype=torch.float64)
        assert mass_accuracy(one, mask).item() == pytest.approx(share, abs=1e-15)


@settings(deadline=None, max_examples=50)
@given(maps(), st.floats(1e-3, 1e3))
def test_pointing_and_mass_ignore_the_scale(case, scale):
    score, mask = case
    for metric in (pointing_game, mass_accuracy):
        assert metric(score * 2.0, mask).tolist() == metric(score, mask).tolist()
    scaled = mass_accuracy(score * scale, mask)
    torch.testing.assert_close(scaled, mass_accuracy(score, mask), rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------------------- chance


@pytest.mark.parametrize("positives", [1, 2, 4, 6])
def test_the_random_baseline_by_enumeration(positives):
    """All 720 rankings of six pixels, `positives` of them inside."""
    score = torch.tensor(list(permutations(range(1, 7))), dtype=torch.float64)
    mask = (torch.arange(6) < positives).expand_as(score)
    expected = chance_average_precision(positives, 6)
    assert average_precision(score, mask).mean().item() == pytest.approx(expected, abs=1e-13)
    share = chance_share(mask)[0].item()
    assert share == pytest.approx(positives / 6, abs=1e-15)
    assert pointing_game(score, mask).mean().item() == pytest.approx(share, abs=1e-13)
    assert mass_accuracy(score, mask).mean().item() == pytest.approx(share, abs=1e-13)


@settings(deadline=None, max_examples=50)
@given(maps())
def test_a_constant_map_scores_the_share_of_the_mask(case):
    mask = case[1]
    for metric in SEGMENTATION:
        flat = metric(torch.ones(mask.shape), mask)
        torch.testing.assert_close(flat, chance_share(mask), rtol=0, atol=1e-14)


def test_chance_of_whole_and_absent_objects():
    assert chance_average_precision(1, 1) == chance_average_precision(5, 5) == 1.0
    assert chance_average_precision(10_000, 50_000) == pytest.approx(0.2, abs=1e-3)
    with pytest.raises(ValueError, match="1 ≤ positives ≤ total; got 0 of 4"):
        chance_average_precision(0, 4)


@pytest.mark.parametrize("metric", SEGMENTATION)
def test_maps_without_an_answer_are_refused(metric):
    score, mask = torch.zeros(2, 3), torch.tensor([[1, 0, 0], [0, 0, 0]])
    with pytest.raises(ValueError, match=r"the mask of image\(s\) \[1\] is empty"):
        metric(score, mask)
    with pytest.raises(ValueError, match=r"the mask of image\(s\) \[0, 1\] is empty"):
        metric(score, mask, torch.tensor([[0, 1, 1], [1, 1, 1]]))
    with pytest.raises(ValueError, match=r"of the map's own shape.*\[\(2, 3\), \(2, 4\)\]"):
        metric(score, torch.ones(2, 4))
    score[0, 2] = torch.nan
    with pytest.raises(ValueError, match=r"the map of image\(s\) \[0\] is not finite"):
        metric(score, mask)
