"""Tensors that want a gradient and are neither the input nor a parameter: still no silent error."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from libragrad import audit, balanced
from libragrad.engine.places import Place
from tests.checks import Operation, draw
from tests.engine.networks import gradient, mlp, rows

OTHER = draw(4, seed=5)


def test_a_leaf_of_the_model_s_own_is_one_more_constant():
    w = OTHER.clone().requires_grad_()
    w.grad = before = torch.ones_like(w)
    account = audit(Operation(lambda x: x.exp() + w), rows(), 1)
    assert account.relative_error < 1e-12
    assert account.biases[Place("leaf", "")] == pytest.approx(2 * float(OTHER[1]))
    assert w.grad is before


@pytest.mark.parametrize("times", [1, 2])
def test_what_was_computed_before_is_a_constant(times):
    """Text features, say, whose graph was never let go: a second account finds it as it was."""
    features = nn.Parameter(draw(4, 3, seed=5)).exp()
    for _ in range(times):
        account = audit(Operation(lambda x: x.exp() @ features), rows(), 1)
        assert account.relative_error < 1e-12
        assert account.operations["product with a constant"] == 2  # the input's own, and this


def test_a_model_may_differentiate_inside():
    def model(x: Tensor) -> Tensor:
        h = x.detach().requires_grad_()
        with torch.enable_grad():
            (slope,) = torch.autograd.grad((h**3).sum(), h)
        return slope.exp() + x

    account = audit(Operation(model), rows(), 1)
    assert account.relative_error < 1e-12
    assert account.unknown == []


def test_what_another_thread_computes_is_reported():
    def model(x: Tensor) -> Tensor:
        made: list[Tensor] = []

        def run() -> None:
            with torch.enable_grad():
                made.append(x * x)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return made[0] + 1

    account = audit(Operation(model), rows(), 1)
    assert [place.operation for place in account.unknown] == ["MulBackward0"]
    assert account.leaks[0].operation == "MulBackward0"
    assert account.leaks[0].leak == pytest.approx(account.error)


def test_a_target_that_is_no_linear_function_has_a_leak_of_its_own():
    account = audit(mlp(), rows(), lambda y: y.softmax(-1)[:, 1])
    assert account.leaks[0].operation == "(target)"
    assert account.leaks[0].leak == pytest.approx(account.error)


@pytest.mark.parametrize(
    "transform",
    [
        torch.func.grad(lambda h: h.softmax(-1).square().sum()),
        lambda x: torch.func.jacrev(torch.tanh)(x).sum((2, 3)),
    ],
    ids=["grad", "jacrev"],
)
def test_transforms_keep_their_values_and_are_reported(transform: Callable[[Tensor], Tensor]):
    account = audit(Operation(transform), rows(), 1)
    assert account.output == pytest.approx(float(transform(rows())[:, 1].sum()), rel=1e-15)
    assert account.unknown != []


def test_a_part_written_to_makes_the_whole_known():
    def model(x: Tensor) -> Tensor:
        h = torch.zeros(2, 4).double()
        h[:, :2].add_(x[:, :2])
        h.view(-1)[4:].copy_(x.reshape(-1)[4:])
        return h * 2

    account = audit(Operation(model), rows(), 1)
    assert account.relative_error < 1e-12
    assert account.unknown == []
    with balanced():  # a warning would be an error
        assert torch.equal(
            gradient(Operation(model), rows())[1], torch.tensor([0, 2, 0, 0]).double()
        )
