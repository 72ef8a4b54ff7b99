"""The paper's propositions and theorems, where the answer is known exactly.

FullGrad(f) = Σ input ⊙ ∂f/∂input + Σ bias ⊙ ∂f/∂bias. f is FG-complete if FullGrad(f) = f.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from libragrad import LIBRA, STANDARD, Preset, audit, constant, scale
from tests.checks import Operation, draw

A, B = draw(3, 4, seed=1, positive=True), draw(3, 4, seed=2, positive=True)
HEAD = draw(3, 4, seed=3)


def full_grad(f: Callable[..., Tensor], *inputs: Tensor, preset: Preset) -> tuple[float, float]:
    """FullGrad(f) and f, both weighted by one random head so that no symmetry helps."""
    account = audit(Operation(f), inputs, lambda y: (y * HEAD).sum(), preset)
    return account.explained, account.output


def complete(f: Callable[..., Tensor], *inputs: Tensor, preset: Preset = LIBRA) -> bool:
    explained, output = full_grad(f, *inputs, preset=preset)
    return explained == pytest.approx(output, rel=1e-12)


def test_full_grad_of_a_product_is_2_f():
    explained, output = full_grad(torch.mul, A, B, preset=STANDARD)
    assert explained == pytest.approx(2 * output, rel=1e-12)
    assert complete(torch.mul, A, B)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_full_grad_of_a_product_of_n_is_n_f(n):
    explained, output = full_grad(lambda x: x**n, A, preset=STANDARD)
    assert explained == pytest.approx(n * output, rel=1e-12)
    assert complete(lambda x: x**n, A)


def test_full_grad_of_a_quotient_is_0():
    explained, output = full_grad(torch.div, A, B, preset=STANDARD)
    assert explained == pytest.approx(0, abs=1e-12)
    assert output == pytest.approx(float((A / B * HEAD).sum()), rel=1e-12)
    assert complete(torch.div, A, B)


@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-6, 1e-8])
def test_full_grad_of_layer_norm_tends_to_0_with_epsilon(eps):
    def norm(x: Tensor) -> Tensor:
        return F.layer_norm(x, (4,), eps=eps)

    explained, _ = full_grad(norm, A, preset=STANDARD)
    variance = A.var(-1, correction=0, keepdim=True)
    assert explained == pytest.approx(float((norm(A) * HEAD * eps / (variance + eps)).sum()))
    assert complete(norm, A)


def test_full_grad_of_layer_norm_without_epsilon_is_its_bias():
    beta = draw(4, seed=5)
    explained, output = full_grad(
        lambda x: F.layer_norm(x, (4,), bias=beta, eps=0), A, preset=STANDARD
    )
    assert explained == pytest.approx(float((beta * HEAD).sum()), rel=1e-12)
    assert explained != pytest.approx(output, rel=0.1)


def integrated_gradients(f: Callable[[Tensor], Tensor], x: Tensor, steps: int) -> float:
    """Σ x ⊙ (1/n) Σ_k ∇f(k/n · x): the right Riemann sum on the line from zero."""
    total = 0.0
    for k in range(1, steps + 1):
        point = (k / steps * x).requires_grad_()
        (g,) = torch.autograd.grad((f(point) * HEAD).sum(), point)
        total += float((g * x).sum()) / steps
    return total


@pytest.mark.parametrize("steps", [1, 10, 50])
def test_integrated_gradients_of_layer_norm_tend_to_0_with_epsilon(steps):
    def norm(eps: float) -> Callable[[Tensor], Tensor]:
        return lambda x: F.layer_norm(x, (4,), eps=eps)

    first, second = (integrated_gradients(norm(eps), A, steps) for eps in (1e-8, 1e-10))
    assert first / second == pytest.approx(100, rel=1e-3)
    assert integrated_gradients(norm(0.0), A, steps) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("activation", [F.silu, F.gelu, F.mish, F.hardswish])
def test_a_gated_activation_is_not_complete_until_its_gate_is_constant(activation):
    assert not complete(activation, A, preset=STANDARD)
    assert complete(activation, A)


def test_full_grad_of_silu_at_a_point():
    """x f′(x) = f(x) (1 + x (1 − σ(x))), which is f(x) only at zero."""
    explained, _ = full_grad(F.silu, A, preset=STANDARD)
    known = F.silu(A) * (1 + A * (1 - A.sigmoid()))
    assert explained == pytest.approx(float((known * HEAD).sum()), rel=1e-12)


def test_affine_functions_are_complete():
    weight, bias = draw(4, 4, seed=6), draw(4, seed=7)
    assert complete(lambda x: F.linear(x, weight, bias), A, preset=STANDARD)
    assert complete(lambda x: F.linear(x, weight, bias), A)


@pytest.mark.parametrize("preset", [STANDARD, LIBRA], ids=lambda preset: preset.name)
@pytest.mark.parametrize("f", [F.relu, F.leaky_relu, torch.abs, F.relu6, F.hardtanh, torch.sort])
def test_locally_affine_functions_are_complete(f, preset):
    def g(x: Tensor) -> Tensor:
        y = f(3 * x - 2)
        return y if isinstance(y, Tensor) else y[0]

    assert complete(g, A, preset=preset)


COMPLETE: list[Callable[[Tensor], Tensor]] = [
    lambda x: F.linear(x, draw(4, 4, seed=6), draw(4, seed=7)),
    lambda x: F.layer_norm(x, (4,), draw(4, seed=8), draw(4, seed=9)),
    F.gelu,
    lambda x: x * x,
    torch.tanh,
    lambda x: x.softmax(-1) @ draw(4, 4, seed=6) + x,
    lambda x: x - x.mean(),
]
functions = st.sampled_from(COMPLETE)


@settings(deadline=None)
@given(f=functions, g=functions)
def test_a_composition_of_complete_functions_is_complete(f, g):
    assert complete(lambda x: g(f(x)), A)


@settings(deadline=None)
@given(f=functions, g=functions)
def test_a_sum_of_complete_functions_is_complete(f, g):
    assert complete(lambda x: f(x) + g(x), A)


def input_times_gradient(y: Tensor, *inputs: Tensor) -> Tensor:
    pairs = zip(inputs, torch.autograd.grad(y, inputs), strict=True)
    return sum(((x.detach() * g).sum() for x, g in pairs), torch.zeros(()))


@settings(deadline=None)
@given(share=st.floats(0.0, 1.0))
def test_any_shares_that_sum_to_one_complete_a_product(share):
    """Theorem (self-gating): a + b = 1; the symmetric choice is LibraGrad's."""
    a, b = A.clone().requires_grad_(), B.clone().requires_grad_()
    y = (scale(a, share) * scale(b, 1 - share) * HEAD).sum()
    torch.testing.assert_close(input_times_gradient(y, a, b), y.detach())


def test_pruning_either_branch_completes_a_product():
    a, b = A.clone().requires_grad_(), B.clone().requires_grad_()
    y = (A * B * HEAD).sum()
    torch.testing.assert_close(input_times_gradient((a * constant(b) * HEAD).sum(), a), y)
    torch.testing.assert_close(input_times_gradient((constant(a) * b * HEAD).sum(), b), y)
