"""Every rule against its slow formula, and every name of the table met by a case."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from libragrad import STANDARD, balanced
from libragrad.engine.account import Account
from libragrad.engine.places import Place, Places
from libragrad.rules.table import RULES
from tests.cases.every import CASES
from tests.checks import check, distance, draw, gradients, one_tensor

NO_DERIVATIVE = {"floor_divide", "rfloordiv", "heaviside"}  # of PyTorch's own
NEEDS_A_DEVICE = {"cuda", "pin_memory"}


class Names(Account):
    """Remembers the name of every operation that a rule is asked about."""

    def __init__(self) -> None:
        super().__init__(Places(None), [], [], traces=False)
        self.names: set[str] = set()

    def place(self, operation: str) -> Place:
        self.names.add(operation)
        return super().place(operation)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_rule_is_its_formula(case):
    check(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_named_operation_is_the_one_that_runs(case):
    names = Names()
    with balanced(case.preset, listener=names):
        case.operation(*case.inputs())
    assert case.name in names.names


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in NO_DERIVATIVE], ids=str)
def test_under_standard_a_gradient_is_pytorch_s_own(case):
    inputs = case.inputs()
    native = one_tensor(case.operation(*inputs))
    with balanced(STANDARD):
        y = one_tensor(case.operation(*inputs))
    assert torch.equal(y, native)
    g = draw(*native.shape, seed=99)
    pairs = zip(gradients(y @ g, inputs), gradients(native @ g, inputs), strict=True)
    assert all(distance(a, b) < case.tolerance for a, b in pairs)


def test_every_name_of_the_table_has_a_case():
    covered = {case.name for case in CASES}
    assert set(RULES) - NEEDS_A_DEVICE == covered


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_moving_to_a_device_keeps_the_gradient():
    x = draw(3, 4).requires_grad_()
    names: Any = Names()
    with balanced(listener=names):
        y = x.pin_memory().cuda().sum()
    assert torch.equal(gradients(y, [x])[0], torch.ones_like(x))
    assert names.names >= NEEDS_A_DEVICE
