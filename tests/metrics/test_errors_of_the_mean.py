"""Standard errors, bootstrap intervals and the paper's bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold  # type: ignore[import-untyped]

from libragrad.metrics import (
    REMOVED,
    Estimate,
    accuracy_variance,
    area_upper_bound,
    bootstrap_interval,
    fold_variance,
    mean_estimate,
    printed_upper_bound,
    srg_upper_bound,
    standard_error,
    trapezoid_area,
)

ROWS = st.lists(st.floats(-100, 100), min_size=2, max_size=40)


@settings(deadline=None, max_examples=100)
@given(ROWS)
def test_the_mean_and_its_error_are_numpys(rows):
    estimate = mean_estimate(torch.tensor(rows, dtype=torch.float64))
    assert estimate.value == pytest.approx(np.mean(rows), abs=1e-11)
    assert estimate.standard_error == pytest.approx(
        np.std(rows, ddof=1) / math.sqrt(len(rows)), abs=1e-11
    )
    assert estimate.count == len(rows)


@settings(deadline=None, max_examples=50)
@given(ROWS, st.randoms())
def test_the_order_of_the_rows_changes_no_bit(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    one, other = (torch.tensor(r, dtype=torch.float64) for r in (rows, shuffled))
    assert mean_estimate(one) == mean_estimate(other)
    assert bootstrap_interval(one, resamples=5) == bootstrap_interval(other, resamples=5)


def test_known_estimates():
    assert mean_estimate(torch.tensor([0.0, 2.0])) == Estimate(1.0, 1.0, 2)
    assert Estimate(0.25, 0.5, 3).scaled(100) == Estimate(25.0, 50.0, 3)
    alone = mean_estimate(torch.tensor([3.0]))
    assert (alone.value, alone.count) == (3.0, 1)
    assert math.isnan(alone.standard_error)
    # For a 0/1 column: √(a(1 − a)/(n − 1)).
    assert standard_error(torch.tensor([1.0, 0, 0, 0])) == pytest.approx(0.25, abs=1e-15)


def test_a_row_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match=r"2 of 3 images have no finite value \(first at row 1:"):
        mean_estimate(torch.tensor([1.0, torch.nan, torch.inf]))
    with pytest.raises(ValueError, match=r"at least one; got shape \(0,\)"):
        mean_estimate(torch.tensor([]))
    with pytest.raises(ValueError, match=r"one number an image, at least one; got shape \(2, 2\)"):
        bootstrap_interval(torch.zeros(2, 2))


# ---------------------------------------------------------------------------- bootstrap


def test_the_bootstrap_interval_of_a_large_sample_is_the_normal_one():
    rows = torch.randn(2000, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    estimate = mean_estimate(rows)
    low, high = bootstrap_interval(rows, resamples=4000)
    assert low == pytest.approx(estimate.value - 1.96 * estimate.standard_error, abs=2e-3)
    assert high == pytest.approx(estimate.value + 1.96 * estimate.standard_error, abs=2e-3)


def test_the_bootstrap_of_two_rows_by_enumeration():
    """Two of two with replacement: means 0, ½, ½, 1, each a quarter."""
    rows = torch.tensor([0.0, 1.0])
    assert bootstrap_interval(rows, level=0.9) == (0.0, 1.0)
    assert bootstrap_interval(rows, level=0.3) == (0.5, 0.5)


def test_the_bootstrap_is_seeded():
    rows = torch.rand(50, generator=torch.Generator().manual_seed(0))
    assert bootstrap_interval(rows, seed=1) == bootstrap_interval(rows, seed=1)
    assert bootstrap_interval(rows, seed=1) != bootstrap_interval(rows, seed=2)
    with pytest.raises(ValueError, match=r"level must lie between 0 and 1.*got 95"):
        bootstrap_interval(rows, level=95)
    with pytest.raises(ValueError, match="resamples must be at least 1; got 0"):
        bootstrap_interval(rows, resamples=0)


# ---------------------------------------------------------------------------- the paper's bounds


@pytest.mark.parametrize("images", [10, 37, 100])
def test_the_folds_are_scikit_learns(images):
    curves = torch.rand(images, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    folds = KFold(10, shuffle=True, random_state=42).split(np.arange(images))
    means = np.stack([curves.numpy()[fold].mean(axis=0) for _, fold in folds])
    np.testing.assert_allclose(fold_variance(curves).numpy(), means.var(axis=0), rtol=1e-12)


def test_ten_folds_need_ten_images():
    with pytest.raises(ValueError, match="10 folds need at least 10 images; got 9"):
        fold_variance(torch.zeros(9, 10))


def test_the_fold_variance_is_about_nine_times_that_of_the_mean():
    curves = torch.randn(1000, 400, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    of_the_mean = curves.var(dim=0).mean() / len(curves)
    assert (fold_variance(curves).mean() / of_the_mean).item() == pytest.approx(9, rel=0.1)


def test_the_accuracy_variance_is_bernoullis():
    curves = torch.zeros(100, 2)
    curves[:25, 0], curves[:50, 1] = 1, 1
    expected = torch.tensor([0.25 * 0.75 / 100, 0.25 / 100], dtype=torch.float64)
    torch.testing.assert_close(accuracy_variance(curves), expected, rtol=1e-14, atol=0)


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 30), st.integers(0, 10**6), st.floats(0, 1))
def test_the_bound_holds_however_the_points_are_correlated(images, seed, shared):
    """Accuracy curves whose points range from independent (0) to the same (1)."""
    generator = torch.Generator().manual_seed(seed)
    own = torch.rand(images, 10, generator=generator)
    common = torch.rand(images, 1, generator=generator)
    curves = ((1 - shared) * own + shared * common > 0.5).double()
    bound = area_upper_bound(accuracy_variance(curves))
    deviation = trapezoid_area(curves).std(correction=0).item() / math.sqrt(images)
    assert deviation <= bound + 1e-12


def test_the_bound_in_closed_form():
    """Equal variance v at every point: √(0.9 v), where the perfectly correlated truth is 0.9 √v."""
    curves = torch.tensor([[0.0] * 10, [1.0] * 10], dtype=torch.float64)
    bound = area_upper_bound(accuracy_variance(curves), REMOVED)
    assert bound == pytest.approx(math.sqrt(0.9 * 0.125), abs=1e-15)


def test_the_bound_of_srg():
    assert srg_upper_bound(3.0, 4.0) == pytest.approx(math.sqrt(12.5), abs=1e-15)


def test_the_printed_bounds_are_ten_times_too_small():
    """No accuracy bound over 1,000 images can print above 0.15; all 444 × 3 print 0.0 or 0.1."""
    largest = area_upper_bound(torch.full((10,), 0.25 / 1000, dtype=torch.float64))
    assert 100 * largest == pytest.approx(1.5, abs=1e-12)
    assert printed_upper_bound(largest) == pytest.approx(0.15, abs=1e-12)
    assert printed_upper_bound(largest) == pytest.approx(math.sqrt(100 * largest**2), abs=1e-12)
