"""All cases, from every file of this folder."""

from __future__ import annotations

from tests.cases import (
    activations,
    affine,
    attentions,
    blocks,
    compounds,
    divisions,
    homogeneous,
    normalisations,
    piecewise,
    powers,
    precisions,
    products,
    reading,
    recurrences,
    secants,
    softmaxes,
    sums,
    views,
)
from tests.checks import Case

FILES = (
    activations,
    affine,
    attentions,
    blocks,
    compounds,
    divisions,
    homogeneous,
    normalisations,
    piecewise,
    powers,
    precisions,
    products,
    reading,
    recurrences,
    secants,
    softmaxes,
    sums,
    views,
)

CASES: list[Case] = [case for file in FILES for case in file.CASES]
