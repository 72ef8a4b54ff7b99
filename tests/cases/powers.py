"""Powers, products over entries, variance: n-homogeneous, so each of n factors gets 1/n."""

from __future__ import annotations

import torch
from torch import Tensor

from libragrad import CP_LRP, DECOMPX, STANDARD
from tests.cases.shorthand import CUBE, MATRIX, aten, by, constant_of, under
from tests.reference.formulas import const, scaled, secant

C = constant_of(*MATRIX, positive=True) + 1
TWO = torch.tensor(2.0, dtype=torch.float64)


def in_place(x: Tensor, n: float) -> Tensor:
    x = x.clone()
    x **= n
    return x


SQUARE = by("pow", lambda x: x**2, lambda x, one: x * const(x))

POWERS = [
    SQUARE,
    under(DECOMPX, SQUARE),
    under(CP_LRP, SQUARE, SQUARE.reference),
    by("pow", lambda x: x**3, lambda x, one: x * const(x * x), note="cube"),
    by("pow", lambda x: x**1.5, lambda x, one: x * const(x.sqrt()), note="3/2", positive=True),
    by("pow", lambda x: x**TWO, lambda x, one: x * const(x), note="number in a tensor"),
    by("pow", lambda x: torch.pow(exponent=2, input=x), SQUARE.reference, note="keywords"),
    by("pow", lambda x: aten.pow.Tensor_Scalar(x, 2), SQUARE.reference, note="aten"),
    by("pow", lambda x: in_place(x, 2), SQUARE.reference, note="augmented"),
    by("pow", lambda x: x.clone().pow_(2), SQUARE.reference, note="in place"),
    by("pow", lambda x: x**0.5, lambda x, one: x * const(x**-0.5), note="root", positive=True),
    by("pow", lambda x: x**-2 + x, lambda x, one: const(x**-2) * one + x, note="inverse"),
    by("pow", lambda x: x**C, lambda x, one: x * const(x ** (C - 1)), note="many", positive=True),
    by(
        "pow",
        lambda x, y: x**y + x,
        lambda x, y, one: const(x**y) * one + x,
        *[MATRIX] * 2,
        note="of two values",
        positive=True,
    ),
    by("rpow", lambda x: 2**x, secant(lambda x: 2**x)),
    by("square", torch.square, SQUARE.reference),
    by("square", lambda x: x.clone().square_(), SQUARE.reference, note="in place"),
    by("float_power", lambda x: x.float_power(2), SQUARE.reference),
]

PRODUCT = by("prod", lambda x: x.prod(), scaled(1 / 12, torch.prod))
ROWS = by("prod", lambda x: x.prod(1), scaled(1 / 4, lambda x: x.prod(1)), note="of rows")

OVER = [PRODUCT, under(DECOMPX, PRODUCT), ROWS, under(CP_LRP, ROWS, ROWS.reference)]

VARIANCE = by("var", lambda x: x.var(1), scaled(1 / 2, lambda x: x.var(1)))

VARIANCES = [
    VARIANCE,
    under(STANDARD, VARIANCE),
    by(
        "var",
        lambda x: torch.var(x, dim=(0, 2), correction=0, keepdim=True),
        scaled(1 / 2, lambda x: x.var((0, 2), correction=0, keepdim=True)),
        CUBE,
        note="keywords",
    ),
]

CASES = [*POWERS, *OVER, *VARIANCES]
