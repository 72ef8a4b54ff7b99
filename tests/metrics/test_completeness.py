"""The completeness error, per image and for a data set."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from libragrad.metrics import (
    completeness_error,
    mean_estimate,
    pooled_relative_error,
    relative_completeness_error,
)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 5), st.integers(1, 40), st.integers(0, 10**6))
def test_f_of_a_sum_is_complete(images, tokens, seed):
    """y = Σx with the map x and gradient 1: complete to rounding."""
    x = torch.randn(images, tokens, generator=torch.Generator().manual_seed(seed)).double()
    y = x.sum(dim=1)
    assert completeness_error(x, y).max() < 1e-13
    assert completeness_error(2 * x, y).allclose(y.abs(), rtol=1e-12, atol=1e-12)
    assert relative_completeness_error(2 * x, y).allclose(torch.ones(images).double())


def test_known_errors():
    a = torch.tensor([[[1.0, 2.0], [3.0, -4.0]], [[0.0, 0.0], [0.0, 0.0]]])
    y = torch.tensor([4.0, 0.0])
    assert completeness_error(a, y).tolist() == [2.0, 0.0]
    assert completeness_error(a, y, unattributed=torch.tensor([2.0, -3.0])).tolist() == [0.0, 3.0]
    assert relative_completeness_error(a, y).tolist() == [0.5, 0.0]
    assert relative_completeness_error(a, y, unattributed=1.0).tolist() == [0.25, math.inf]


def test_the_sum_is_taken_in_float64():
    """2¹³ + many small parts, which float32 would lose beside it one by one."""
    a = torch.full((1, 4097), 2.0**-12)
    a[0, 0] = 2.0**13
    assert completeness_error(a, torch.tensor([2.0**13 + 1])).item() == 0.0


def test_the_relative_error_of_a_data_set():
    error, y = torch.tensor([1.0, 3.0]), torch.tensor([-2.0, 6.0])
    pooled = pooled_relative_error(error, y)
    assert (pooled.value, pooled.standard_error, pooled.count) == (0.5, 0.0, 2)

    # e = (0, 4), |y| = (4, 4): r = ½, residuals (−2, 2), their mean has error 2, over mean |y| = 4.
    pooled = pooled_relative_error(torch.tensor([0.0, 4.0]), torch.tensor([4.0, -4.0]))
    assert (pooled.value, pooled.standard_error) == (0.5, 0.5)


def test_one_vanishing_output_does_not_spoil_the_data_set():
    a, y = torch.tensor([[1.0], [1.0]]), torch.tensor([0.0, 2.0])
    error = completeness_error(a, y)
    assert pooled_relative_error(error, y).value == 1.0
    with pytest.raises(ValueError, match="1 of 2 images have no finite value"):
        mean_estimate(relative_completeness_error(a, y))


def test_what_has_no_completeness_is_refused():
    with pytest.raises(ValueError, match=r"one explained scalar an image; got \(2, 3\) and \(3,\)"):
        completeness_error(torch.zeros(2, 3), torch.zeros(3))
    with pytest.raises(ValueError, match="nothing to be relative to"):
        pooled_relative_error(torch.ones(2), torch.zeros(2))
    with pytest.raises(ValueError, match=r"got \(2,\) errors but \(3,\) outputs"):
        pooled_relative_error(torch.ones(2), torch.zeros(3))
