"""Completeness in words: how much of the explained output is accounted for."""

from __future__ import annotations

import math

from libragrad.picture.numeral import numeral

__all__ = ["account"]


def account(error: float, output: float, unattributed: float = 0.0, of: str = "logit") -> str:
    """What a map adds up to, in words.

    accounted for = 1 − error / output, where error = output − Σ map − unattributed

    What has no place in the picture is named if it is more than rounding. Far from complete, the
    sum itself says more than a share; a method that claims no sum is said to claim none.

    >>> account(0.002, 10.0)
    '99.98 % of the logit accounted for'
    >>> account(0.0, 10.0, 0.13)
    '100.00 % of the logit accounted for, 1.30 % of it outside the picture'
    >>> account(95.0, 10.0)
    'adds up to −85, the logit is 10'
    >>> account(math.nan, 10.0)
    'claims no completeness'
    """
    if math.isnan(error):
        return "claims no completeness"
    share = 1 - error / output if output else math.inf
    if not 0 <= share <= 2:
        return f"adds up to {numeral(output - error)}, the {of} is {numeral(output)}"
    words = f"{_percent(share)} of the {of} accounted for"
    outside = unattributed / output
    if abs(outside) < 5e-5:
        return words
    return f"{words}, {_percent(outside)} of it outside the picture"


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %".replace("-", "−")
