"""Resampling keeps sums, keeps even maps even, and gives the answers that one can work out."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from libragrad.errors import GeometryError
from libragrad.geometry.layout import Layout
from libragrad.geometry.resample import resize_map, spread

SIZES = st.tuples(st.integers(1, 17), st.integers(1, 17))


def amounts(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


@settings(deadline=None)
@given(SIZES, SIZES, st.integers(0, 9))
def test_sums_are_kept(source, target, seed):
    values = amounts(2, *source, seed=seed)
    moved = resize_map(values, target)
    assert moved.shape == (2, *target)
    torch.testing.assert_close(moved.sum((1, 2)), values.sum((1, 2)), rtol=0, atol=1e-12)


@settings(deadline=None)
@given(SIZES, SIZES)
def test_an_even_map_stays_even(source, target):
    moved = resize_map(torch.ones(1, *source, dtype=torch.double), target)
    share = source[0] * source[1] / (target[0] * target[1])
    torch.testing.assert_close(moved, torch.full((1, *target), share, dtype=torch.double))


@settings(deadline=None)
@given(SIZES, st.integers(1, 4), st.integers(1, 4))
def test_up_and_down_again_is_where_it_was(size, rows, columns):
    values = amounts(1, *size)
    fine = resize_map(values, (size[0] * rows, size[1] * columns))
    torch.testing.assert_close(resize_map(fine, size), values, rtol=0, atol=1e-13)


@settings(deadline=None)
@given(SIZES, SIZES)
def test_against_counting_small_squares(source, target):
    """Cut the picture so finely that every small square lies in one cell of either grid."""
    values = amounts(1, *source)
    height, width = source[0] * target[0], source[1] * target[1]
    fine = values.repeat_interleave(target[0], 1).repeat_interleave(target[1], 2)
    fine = fine / (target[0] * target[1])
    counted = fine.reshape(1, target[0], height // target[0], target[1], width // target[1])
    torch.testing.assert_close(resize_map(values, target), counted.sum((2, 4)))


def test_two_by_two_to_three_by_three():
    values = torch.tensor([[[9.0, 18.0], [27.0, 36.0]]])
    expected = torch.tensor([[[4.0, 6.0, 8.0], [8.0, 10.0, 12.0], [12.0, 14.0, 16.0]]])
    torch.testing.assert_close(resize_map(values, (3, 3)), expected)
    ones = resize_map(torch.ones(1, 3, 3), (2, 2))
    torch.testing.assert_close(ones, torch.full((1, 2, 2), 2.25))


def test_the_same_size_is_the_same_bits():
    values = amounts(3, 7, 5)
    assert torch.equal(resize_map(values, (7, 5)), values)


@pytest.mark.parametrize(
    ("source", "target", "prefix", "unplaced"),
    [
        (Layout((2, 2), 1, 2), Layout((2, 2), 1, 2), [7.0], 0.0),
        (Layout((2, 2), 1, 2), Layout((2, 2), 0, 1), [], 7.0),
        (Layout((2, 2), 0, 1), Layout((4, 4), 2, 2), [0.0, 0.0], 0.0),
        (Layout((2, 2), 2, 2), Layout((1, 3), 1, 2), [0.0], 15.0),
    ],
)
def test_prefix_tokens_go_to_their_like_or_nowhere(source, target, prefix, unplaced):
    values = torch.tensor([[*[7.0, 8.0][: source.prefix], 1.0, 2.0, 3.0, 4.0]])
    moved, lost = spread(values, source, target)
    assert moved.shape == (1, target.count)
    assert moved[0, : target.prefix].tolist() == prefix
    assert lost.tolist() == [unplaced]
    assert float(moved.sum() + lost) == pytest.approx(float(values.sum()))


def test_gradients_and_types_are_kept():
    values = amounts(1, 5).requires_grad_()
    moved, lost = spread(values, Layout((2, 2), 1, 2), Layout((3, 3), 0, 1))
    (g,) = torch.autograd.grad(moved.sum() + lost.sum(), values)
    torch.testing.assert_close(g, torch.ones_like(g))
    assert resize_map(torch.ones(1, 2, 2, dtype=torch.half), (3, 3)).dtype == torch.half


def test_what_does_not_fit_is_refused():
    with pytest.raises(GeometryError, match=r"must be \(batch, 5\) to lie on 1 \+ 2 × 2"):
        spread(torch.zeros(1, 4), Layout((2, 2), 1, 2), Layout((2, 2), 1, 2))
    with pytest.raises(GeometryError, match=r"maps must be \(batch, H, W\)"):
        resize_map(torch.zeros(4, 4), (2, 2))
