"""Piecewise affine: the own gradient; what saturates is a bias. Steps: all of it is a bias."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.cases.shorthand import MATRIX, aten, by, constant_of, methods, own
from tests.checks import Case
from tests.reference.formulas import constant, tangent

C = constant_of(*MATRIX)
TWO = constant_of(2, 4)
ROWS = torch.tensor([2, 0])
PLACES = torch.tensor([[2, 0, 2, 1], [0, 1, 1, 0]])


def saturating(name: str, f: Callable[[Tensor], Tensor], note: str = "") -> Case:
    return by(name, f, tangent(f), note=note)


def replacing(x: Tensor) -> Tensor:
    return torch.threshold_(x.clone(), 0.1, -3.0)


SATURATIONS = [
    saturating("relu6", lambda x: F.relu6(x * 6)),
    saturating("relu6", lambda x: F.relu6(x * 6, inplace=True), note="in place"),
    saturating("hardtanh", lambda x: F.hardtanh(x, -0.5, 0.7)),
    saturating("clamp", lambda x: x.clamp(-0.5, 0.7)),
    saturating("clamp", lambda x: x.clone().clamp_(max=0.7), note="in place"),
    saturating("clamp", lambda x: torch.clamp(x, min=C), note="tensor"),
    saturating("clamp", lambda x: aten.clamp.default(x, -0.5), note="aten"),
    saturating("clip", lambda x: torch.clip(max=0.3, input=x)),
    saturating("clamp_min", lambda x: x.clamp_min(0.2)),
    saturating("clamp_max", lambda x: x.clamp_max(0.2)),
    saturating("threshold", lambda x: F.threshold(x, 0.1, -3.0)),
    saturating("threshold", replacing, note="in place"),
    saturating("softshrink", lambda x: F.softshrink(x, 0.4)),
    saturating("hardshrink", lambda x: F.hardshrink(x, 0.4)),
    saturating("maximum", lambda x: torch.maximum(x, C)),
    saturating("minimum", lambda x: torch.minimum(other=C, input=x), note="out of order"),
    saturating("max", lambda x: torch.max(x, C)),
    saturating("min", lambda x: x.min(C)),
    saturating("fmax", lambda x: x.fmax(C)),
    saturating("fmin", lambda x: x.fmin(C)),
    saturating("fmod", lambda x: x.fmod(0.4)),
    saturating("remainder", lambda x: x % 0.4),
]

CHOICES = [
    *methods("max min"),
    own("max", lambda x: x.max(dim=1), note="of rows"),
    own("min", lambda x: torch.min(x, 0, keepdim=True), note="of columns"),
    own("maximum", torch.maximum, MATRIX, (1, 4), note="two inputs"),
    own("fmod", torch.fmod, MATRIX, MATRIX, positive=True, note="two inputs"),
    by(
        "scatter_reduce",
        lambda x: x.scatter_reduce(0, PLACES, TWO, "sum"),
        lambda x, one: x.scatter_add(0, PLACES, TWO * one),
    ),
    own("embedding", lambda x: F.embedding(ROWS, x)),
    by(
        "embedding",
        lambda x: F.embedding(ROWS, x, padding_idx=0),
        lambda x, one: torch.stack([x[2], x[0].detach() * one]),
        note="padding",
    ),
]

STEPS = [
    *[
        by(name, lambda x, f=f: f(x) + x, lambda x, one, f=f: f(x).detach() * one + x)
        for name, f in {
            "sign": torch.sign,
            "sgn": torch.sgn,
            "round": lambda x: x.round(),
            "floor": torch.floor,
            "ceil": lambda x: x.clone().ceil_(),
            "trunc": torch.trunc,
            "fix": torch.fix,
            "heaviside": lambda x: torch.heaviside(x, C),
            "floor_divide": lambda x: x // 0.3,
            "rfloordiv": lambda x: 2 // x,
        }.items()
    ],
    by("round", torch.round, constant(torch.round), note="alone"),
]

CASES = [*SATURATIONS, *CHOICES, *STEPS]
