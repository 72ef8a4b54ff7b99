"""Division: the denominator is constant; so is what exists only to become one."""

from __future__ import annotations

import torch
from torch import Tensor

from libragrad import LIBRA
from tests.cases.shorthand import MATRIX, aten, by, constant_of, own, under
from tests.reference.formulas import const, constant

C = constant_of(*MATRIX, positive=True)
M = constant_of(4, 4)


def over_constant(a: Tensor, b: Tensor, one: Tensor) -> Tensor:
    return a / const(b)


def in_place(a: Tensor, b: Tensor) -> Tensor:
    a = a.clone()
    a /= b
    return a


QUOTIENT = by("div", lambda a, b: a / b, over_constant, MATRIX, (3, 1))
INVERSE = by("rdiv", lambda x: 2 / x + x, lambda x, one: const(2 / x) * one + x)

QUOTIENTS = [
    QUOTIENT,
    under(LIBRA.without("normalisation"), QUOTIENT),
    by("div", in_place, over_constant, MATRIX, (4,), note="augmented"),
    by("div", lambda a, b: a.clone().div_(b), over_constant, MATRIX, MATRIX, note="in place"),
    by(
        "div",
        lambda a, b: torch.div(other=b, input=a),
        over_constant,
        *[MATRIX] * 2,
        note="keywords",
    ),
    by("div", lambda a, b: torch.div(a, other=b), over_constant, *[MATRIX] * 2, note="keyword"),
    by("div", aten.div.Tensor, over_constant, MATRIX, MATRIX, note="aten"),
    by("divide", torch.divide, over_constant, MATRIX, MATRIX),
    by("true_divide", torch.true_divide, over_constant, MATRIX, MATRIX),
    own("div", lambda x: x / C, note="constant below"),
    own("div", lambda x: x / 3, note="number below"),
    by("div", lambda x: x / x, lambda x, one: x / const(x), note="one tensor twice"),
    by("div", lambda x: C / x + x, lambda x, one: const(C / x) * one + x, note="constant above"),
    by(
        "div",
        lambda x: torch.div(x, 0.3, rounding_mode="floor") + x,
        lambda x, one: const(x / 0.3).floor() * one + x,
        note="rounded",
    ),
    INVERSE,
    under(LIBRA.without("normalisation"), INVERSE),
]

INVERSES = [
    by("reciprocal", lambda x: x.reciprocal() + x, lambda x, one: const(1 / x) * one + x),
    by("reciprocal", torch.reciprocal, constant(torch.reciprocal), note="alone"),
    by("rsqrt", lambda x: x.rsqrt() * x, lambda x, one: const(x.rsqrt()) * x, positive=True),
    by(
        "rsqrt",
        lambda x: x.clone().rsqrt_() * x,
        lambda x, one: const(x.rsqrt()) * x,
        positive=True,
        note="in place",
    ),
    by("sqrt", torch.sqrt, lambda x, one: x * const(x.rsqrt()), positive=True),
    by(
        "sqrt",
        lambda x: x.clone().sqrt_(),
        lambda x, one: x * const(x.rsqrt()),
        positive=True,
        note="in place",
    ),
    by(
        "sqrt",
        lambda x, y: x / y.sqrt(),
        lambda x, y, one: x / const(y.sqrt()),
        *[MATRIX] * 2,
        positive=True,
        note="below a value",
    ),
]

SQUARE = (4, 4)
LOWER = {"upper": False, "unitriangular": True}


def solved(a: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.solve_triangular(a.tril(-1), b, **LOWER)


SOLVED = by(
    "linalg_solve_triangular", solved, lambda a, b, one: solved(const(a), b), SQUARE, SQUARE
)

SOLUTIONS = [
    SOLVED,
    under(LIBRA.without("normalisation"), SOLVED),
    own("linalg_solve_triangular", lambda b: solved(M, b), SQUARE, note="constant matrix"),
    by(
        "linalg_solve_triangular",
        lambda a: solved(a, M) + a,
        lambda a, one: const(solved(a, M)) * one + a,
        SQUARE,
        note="constant right side",
    ),
    by(
        "linalg_solve", torch.linalg.solve, lambda a, b, one: const(a).inverse() @ b, SQUARE, SQUARE
    ),
    by("inverse", lambda x: x.inverse() @ x, lambda x, one: const(x).inverse() @ x, SQUARE),
    by(
        "linalg_inv",
        lambda x: torch.linalg.inv(x) @ x,
        lambda x, one: const(x).inverse() @ x,
        SQUARE,
    ),
]

CASES = [*QUOTIENTS, *INVERSES, *SOLUTIONS]
