"""Numbers, accounts and legends as people read them."""

from __future__ import annotations

import math

import pytest

from libragrad.picture import RECIPES, Limits, account
from libragrad.picture.legend import legend
from libragrad.picture.numeral import numeral, plain


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (0.9996, "1"),
        (99.96, "100"),
        (-12.345, "−12.3"),
        (123456.0, "123000"),
        (1234567.0, "1.23·10⁶"),
        (0.00012345, "0.000123"),
        (0.000012345, "1.23·10⁻⁵"),
        (-1e-12, "−10⁻¹²"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "not a number"),
    ],
)
def test_numerals(value, shown):
    assert numeral(value) == shown


@pytest.mark.parametrize("value", [0.0, 1.0, -12.345, 1234567.0, 0.000012345, -1e-12, 5e10])
def test_plain_numerals_are_ascii_and_can_be_read_back(value):
    shown = plain(numeral(value))
    assert shown.isascii()
    assert float(shown) == pytest.approx(value, rel=5e-3)


@pytest.mark.parametrize(
    ("error", "output", "outside", "words"),
    [
        (0.0, 4.0, 0.0, "100.00 % of the logit accounted for"),
        (0.0008, 4.0, 0.0, "99.98 % of the logit accounted for"),
        (-0.2, 4.0, 0.0, "105.00 % of the logit accounted for"),
        (0.2, -4.0, 0.0, "105.00 % of the logit accounted for"),
        (
            0.0,
            4.0,
            -0.052,
            "100.00 % of the logit accounted for, −1.30 % of it outside the picture",
        ),
        (-40.0, 4.0, 0.0, "adds up to 44, the logit is 4"),
        (6.0, 4.0, 0.0, "adds up to −2, the logit is 4"),
        (0.5, 0.0, 0.0, "adds up to −0.5, the logit is 0"),
        (math.nan, 4.0, 0.0, "claims no completeness"),
    ],
)
def test_accounts(error, output, outside, words):
    assert account(error, output, outside) == words


def test_an_account_names_what_is_explained():
    assert account(0.0, 1.0, of="similarity") == "100.00 % of the similarity accounted for"


def test_an_exact_scale_does_not_claim_more_beyond_it():
    assert legend({0: Limits(-3.0, 1.0)}, RECIPES["raw"]).ticks == ("−3", "−1", "1")
    assert legend({0: Limits(0.0, 1.0)}, RECIPES["paper"]).ticks == ("0", "0.5", "≥ 1")
    assert legend({0: Limits(0.0, 0.0)}, RECIPES["paper"]).ticks == ("0", "0", "0")
