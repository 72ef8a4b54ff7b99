"""All cases, from every file of this folder."""

from __future__ import annotations

from tests.cases import (
    activations,
    affine,
    divisions,
    homogeneous,
    piecewise,
    powers,
    products,
    reading,
    secants,
    sums,
    views,
)
from tests.checks import Case

FILES = (
    activations,
    affine,
    divisions,
    homogeneous,
    piecewise,
    powers,
    products,
    reading,
    secants,
    sums,
    views,
)

CASES: list[Case] = [case for file in FILES for case in file.CASES]
