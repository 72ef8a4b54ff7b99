"""The tests are tested: a rule that is wrong by 0.1 % fails its cases, in words."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from libragrad.rules.affine import affine
from libragrad.rules.call import Outcome
from libragrad.rules.table import RULES
from tests.cases.every import CASES
from tests.cases.shorthand import by, own
from tests.checks import Case, check, wrong_by

IN_WORDS = "(off by|the bias part is|does not balance|leaks)"
BLIND = {
    "half": "a precision that cannot see 0.1 %",
    "bfloat16": "a precision that cannot see 0.1 %",
    "fill": "a gradient of zero, which no factor changes",
    "zero": "a gradient of zero, which no factor changes",
}


def complaint(case: Case) -> str:
    try:
        check(case)
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", sorted({case.name for case in CASES} - set(BLIND)))
def test_a_rule_wrong_by_a_tenth_of_a_percent_fails(name, monkeypatch):
    monkeypatch.setitem(RULES, name, wrong_by(1e-3, RULES[name]))
    complaints = filter(None, (complaint(case) for case in CASES if case.name == name))
    assert re.match(f"{re.escape(name)}.*: .*{IN_WORDS}.*[0-9]", next(complaints, "none"))


def test_a_wrong_gradient_is_named_with_its_input_and_its_size():
    tripled = by(
        "add", lambda x, y: x + y, lambda x, y, one: x + 3 * y - 2 * y.detach(), (2,), (2,)
    )
    with pytest.raises(AssertionError, match=r"^add: the gradient of input 1 is off by 6.7e-01$"):
        check(tripled)


def test_a_wrong_value_is_found(monkeypatch):
    def rounded(call: Any) -> Outcome:
        return Outcome(call.run() * (1 + 1e-15))

    monkeypatch.setitem(RULES, "add", rounded)
    with pytest.raises(
        AssertionError, match=r"^add: the value is not the native one, bit for bit$"
    ):
        check(own("add", lambda x: x + x))


def test_a_wrong_formula_is_found():
    with pytest.raises(AssertionError, match=r"^neg: the reference has another value, off by "):
        check(by("neg", torch.neg, lambda x, one: x))


def test_a_bias_that_is_not_counted_is_found(monkeypatch):
    def silent(call: Any) -> Outcome:
        return Outcome(affine(call).value)

    monkeypatch.setitem(RULES, "add", silent)
    with pytest.raises(
        AssertionError, match=r"^add: the bias part is 0, the reference's -12.8094$"
    ):
        check(by("add", lambda x: x + 2, lambda x, one: x + 2 * one))


def test_an_operation_without_a_rule_is_found(monkeypatch):
    monkeypatch.delitem(RULES, "neg")
    with (
        pytest.warns(match="the operation 'neg' has no rule"),
        pytest.raises(AssertionError, match=r"^neg: operations without a rule"),
    ):
        check(own("neg", torch.neg))
