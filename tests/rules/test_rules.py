"""Every rule against its slow formula, and every name of the table covered."""

from __future__ import annotations

import pytest

from tests.cases.every import CASES
from tests.checks import check


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_rule_is_its_formula(case):
    check(case)
