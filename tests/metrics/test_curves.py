"""Curves from logits, and areas of curves."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from libragrad.metrics import (
    REMOVED,
    accuracy_curve,
    aopc_curve,
    mean_area,
    predicted_label,
    removed_fractions,
    trapezoid_area,
)


def slow_curves(unmasked, masked, reference):
    """Accuracy and AOPC contributions, one image, one point, one exponential at a time."""
    correct, drop = [], []
    for start, steps, label in zip(unmasked, masked, reference, strict=True):
        points = [start, *steps]
        shares = [math.exp(z[label]) / math.fsum(math.exp(other) for other in z) for z in points]
        correct.append([float(max(range(len(z)), key=z.__getitem__) == label) for z in points])
        drop.append([shares[0] - share for share in shares])
    return torch.tensor(correct).double(), torch.tensor(drop, dtype=torch.float64)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 4), st.integers(1, 9), st.integers(2, 6), st.integers(0, 10**6))
def test_curves_are_the_obvious_ones(images, steps, classes, seed):
    generator = torch.Generator().manual_seed(seed)
    # Whole logits: equal maxima occur, and the first of them is the prediction.
    unmasked = torch.randint(-3, 4, (images, classes), generator=generator).double()
    masked = torch.randint(-3, 4, (images, steps, classes), generator=generator).double()
    truth = torch.randint(0, classes, (images,), generator=generator)
    for reference in (truth, predicted_label(unmasked)):
        correct, drop = slow_curves(unmasked.tolist(), masked.tolist(), reference.tolist())
        assert torch.equal(accuracy_curve(unmasked, masked, reference), correct)
        torch.testing.assert_close(
            aopc_curve(unmasked, masked, reference), drop, rtol=0, atol=1e-15
        )


def test_the_first_point_is_the_unmasked_image():
    unmasked = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
    masked = torch.tensor([[[2.0, 1.0]], [[2.0, 1.0]]])
    truth = torch.tensor([1, 1])
    assert accuracy_curve(unmasked, masked, truth).tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert accuracy_curve(unmasked, masked, predicted_label(unmasked))[:, 0].tolist() == [1.0, 1.0]
    assert aopc_curve(unmasked, masked, truth)[:, 0].tolist() == [0.0, 0.0]


def test_a_probability_of_two_classes_in_closed_form():
    unmasked = torch.tensor([[math.log(3), 0.0]], dtype=torch.float64)  # p = 3/4
    masked = torch.tensor([[[0.0, 0.0], [math.log(7), 0.0]]], dtype=torch.float64)  # 1/2, 7/8
    drop = aopc_curve(unmasked, masked, torch.tensor([0]))
    torch.testing.assert_close(
        drop, torch.tensor([[0.0, 0.25, -0.125]], dtype=torch.float64), rtol=0, atol=1e-15
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_low_precision_logits_are_widened_before_the_softmax(dtype):
    unmasked, masked = torch.tensor([[4.0, 1.0]], dtype=dtype), torch.ones(1, 2, 2, dtype=dtype)
    reference = torch.tensor([0])
    expected = aopc_curve(unmasked.double(), masked.double(), reference)
    assert torch.equal(aopc_curve(unmasked, masked, reference), expected)


def test_logits_that_make_no_curve_are_refused():
    logits, steps, labels = torch.zeros(2, 3), torch.zeros(2, 4, 3), torch.tensor([0, 1])
    with pytest.raises(ValueError, match=r"got unmasked \(2, 3\), masked \(2, 4, 5\)"):
        accuracy_curve(logits, torch.zeros(2, 4, 5), labels)
    with pytest.raises(ValueError, match=r"pass the two logits \(0, z\)"):
        accuracy_curve(torch.zeros(2, 1), torch.zeros(2, 4, 1), labels)
    with pytest.raises(ValueError, match=r"one class index an image, shape \(2,\); got"):
        accuracy_curve(logits, steps, torch.tensor([0.0, 1.0]))
    with pytest.raises(ValueError, match="a class outside 0…2"):
        accuracy_curve(logits, steps, torch.tensor([0, 3]))
    with pytest.raises(ValueError, match="a class outside 0…2"):
        aopc_curve(logits, steps, torch.tensor([-1, 0]))
    steps[1, 2, 0] = torch.nan
    with pytest.raises(ValueError, match=r"logits of image\(s\) \[1\] are not finite"):
        aopc_curve(logits, steps, labels)


# ---------------------------------------------------------------------------- areas


def test_areas_of_known_curves():
    x = torch.tensor(REMOVED, dtype=torch.float64)
    assert trapezoid_area(x).item() == pytest.approx(0.9**2 / 2, abs=1e-15)
    assert mean_area(x).item() == pytest.approx(0.45, abs=1e-15)
    assert trapezoid_area(torch.ones(10)).item() == pytest.approx(0.9, abs=1e-15)
    assert mean_area(torch.ones(10)).item() == 1.0


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-1, 1), min_size=10, max_size=10))
def test_areas_are_the_sums_by_hand(points):
    curve = torch.tensor(points, dtype=torch.float64)
    by_hand = sum((a + b) / 2 * 0.1 for a, b in pairwise(points))
    assert trapezoid_area(curve).item() == pytest.approx(by_hand, abs=1e-14)
    assert mean_area(curve).item() == pytest.approx(sum(points) / 10, abs=1e-14)


def test_the_area_of_the_mean_curve_is_the_mean_of_the_areas():
    curves = torch.rand(7, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    removed = removed_fractions([0.2, 0.7, 1.0])
    for area in (trapezoid_area, mean_area):
        torch.testing.assert_close(
            area(curves, removed).mean(), area(curves.mean(0), removed), rtol=0, atol=1e-15
        )


@pytest.mark.parametrize("area", [trapezoid_area, mean_area])
def test_a_curve_beside_another_axis_is_refused(area):
    with pytest.raises(ValueError, match=r"shape \(2, 4\) but there are 10 points: pass removed="):
        area(torch.zeros(2, 4))
