"""All cases, from every file of this folder."""

from __future__ import annotations

from tests.cases import affine, homogeneous, piecewise, reading, sums, views
from tests.checks import Case

CASES: list[Case] = [
    case for part in (affine, homogeneous, piecewise, reading, sums, views) for case in part.CASES
]
