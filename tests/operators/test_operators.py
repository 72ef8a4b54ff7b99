"""Operators change a gradient, never a value."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from libragrad import constant, scale, swap_backward, swap_backward_by_duality
from tests.checks import draw

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
rows = st.lists(numbers, min_size=1, max_size=8).map(lambda x: torch.tensor(x, dtype=torch.float64))
quick = settings(deadline=None)
FORMS = [swap_backward, swap_backward_by_duality]


def leaf(x: Tensor) -> Tensor:
    return x.clone().requires_grad_()


@quick
@given(x=rows)
def test_constant_is_the_value_without_a_gradient(x):
    h = leaf(x)
    assert torch.equal(constant(h), x)
    assert not constant(h).requires_grad
    (g,) = torch.autograd.grad((h * constant(h)).sum(), h)
    assert torch.equal(g, x)


@quick
@given(x=rows, factor=numbers)
def test_scale_multiplies_the_gradient_alone(x, factor):
    h = leaf(x)
    y = scale(h, factor)
    assert torch.equal(y, x)
    (g,) = torch.autograd.grad((y * x).sum(), h)
    assert torch.equal(g, x * factor)


@quick
@given(x=rows, a=st.floats(-8, 8), b=st.floats(-8, 8))
def test_scales_multiply(x, a, b):
    h = leaf(x)
    (g,) = torch.autograd.grad(scale(scale(h, a), b).sum(), h)
    torch.testing.assert_close(g, torch.full_like(x, a * b))


def test_scale_by_one_and_of_a_constant_is_nothing_at_all():
    x = draw(3)
    h = leaf(x)
    assert [scale(x, 0.5) is x, scale(h, 1.0) is h] == [True, True]


def test_a_scaled_tensor_may_be_changed_in_place():
    h = leaf(draw(3))
    y = scale(h * 1, 0.5)
    y += 1
    (g,) = torch.autograd.grad(y.sum(), h)
    assert torch.equal(g, torch.full((3,), 0.5, dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_scale_keeps_the_type(dtype):
    h = draw(3).to(dtype).requires_grad_()
    (g,) = torch.autograd.grad(scale(h, 0.5).sum(), h)
    assert (scale(h, 0.5).dtype, g.dtype) == (dtype, dtype)


@quick
@given(x=rows)
@pytest.mark.parametrize("swap", FORMS)
def test_swap_backward_has_one_s_value_and_the_other_s_gradient(swap, x):
    h = leaf(x)
    y = swap(h.sin(), 3 * h)
    assert torch.equal(y, x.sin())
    (g,) = torch.autograd.grad((y * x).sum(), h)
    assert torch.equal(g, 3 * x)


@quick
@given(x=rows, power=st.integers(1, 3))
def test_both_forms_of_swap_backward_are_equal(x, power):
    got = []
    for swap in FORMS:
        h = leaf(x)
        y = swap(h.tanh() * h, h**power)
        got.append((y.detach(), *torch.autograd.grad((y * x).sum(), h)))
    (value, gradient), (same_value, same_gradient) = got
    assert torch.equal(value, same_value)
    assert torch.equal(gradient, same_gradient)


@pytest.mark.parametrize("swap", FORMS)
def test_the_value_passes_no_gradient(swap):
    h, other = leaf(draw(3)), leaf(draw(3, seed=1))
    y = swap(other.exp(), 2 * h)
    y.sum().backward()
    torch.testing.assert_close(h.grad, torch.full((3,), 2.0, dtype=torch.float64))
    assert other.grad is None


def test_only_the_custom_backward_stands_an_infinite_surrogate():
    h = leaf(torch.zeros(1))
    assert swap_backward(h + 1, h.log()).item() == 1
    assert swap_backward_by_duality(h + 1, h.log()).isnan().item()


@pytest.mark.parametrize("swap", FORMS)
def test_swaps_may_be_differentiated_twice(swap):
    h = leaf(draw(3))
    (g,) = torch.autograd.grad(swap(h.exp(), h**3).sum(), h, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), h)
    torch.testing.assert_close(gg, 6 * h.detach())
