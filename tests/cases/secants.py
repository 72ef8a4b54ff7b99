"""Every other nonlinearity: f(0) + x ⊙ [(f(x) − f(0)) / x]; constant where f(0) is infinite."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from libragrad import ALI_LRP, LIBRA
from tests.cases.shorthand import MATRIX, aten, by, constant_of, mixed, real, under
from tests.checks import Case
from tests.reference.formulas import const, secant

C = constant_of(*MATRIX)
INSIDE = 1 / 4  # brings the inputs into (−1, 1), where asin and its like are defined


def rising(
    name: str, f: Callable[[Tensor], Tensor], note: str = "", *, positive: bool = False
) -> Case:
    return by(name, f, secant(f), note=note, positive=positive)


def inside(name: str) -> Case:
    return rising(name, lambda x: getattr(torch, name)(x * INSIDE))


def infinite(name: str, f: Callable[[Tensor], Tensor]) -> Case:
    """f(0) is not finite: f is constant."""
    return by(name, lambda x: f(x) + x, lambda x, one: const(f(x)) * one + x, positive=True)


SIGMOID = rising("sigmoid", torch.sigmoid)
TANH = rising("tanh", torch.tanh)

ORDINARY = [
    SIGMOID,
    under(ALI_LRP, SIGMOID),
    TANH,
    under(LIBRA.without("activation"), TANH),
    rising("tanh", lambda x: x.clone().tanh_(), "in place"),
    rising("sigmoid", lambda x: torch.sigmoid(input=x), "keyword"),
    rising("sigmoid", aten.sigmoid.default, "aten"),
    *[
        rising(name, getattr(torch, name))
        for name in "exp exp2 expm1 sin cos tan sinh cosh atan asinh arctan erf erfc sinc".split()
    ],
    *[inside(name) for name in "asin acos atanh".split()],
    *[
        rising(f"special_{name}", getattr(torch.special, name))
        for name in "expit expm1 erf erfc ndtr".split()
    ],
    rising("log1p", torch.log1p, positive=True),
    rising("special_log1p", torch.special.log1p, positive=True),
    rising("hardsigmoid", F.hardsigmoid),
    rising("hardsigmoid", lambda x: F.hardsigmoid(x.clone(), inplace=True), "in place"),
    rising("log_sigmoid", F.logsigmoid),
    rising("log_sigmoid", aten.log_sigmoid.default, "aten"),
    rising("softplus", lambda x: F.softplus(x, beta=2, threshold=1)),
    rising("softsign", F.softsign),
    rising("tanhshrink", F.tanhshrink),
    rising("elu", lambda x: F.elu(x, alpha=0.5)),
    rising("elu", lambda x: F.elu(x.clone(), inplace=True), "in place"),
    rising("selu", F.selu),
    rising("celu", lambda x: F.celu(x, 0.5)),
    rising("logit", lambda x: torch.logit(x * INSIDE, eps=0.1), "clamped"),
    rising("atan2", lambda x: torch.atan2(x, C)),
    rising("arctan2", lambda x: torch.arctan2(x, C)),
    rising("angle", torch.angle),
]

INFINITE = [
    *[infinite(name, getattr(torch, name)) for name in "log log2 log10 lgamma".split()],
    infinite("logit", lambda x: torch.logit(x / 8)),
    infinite("special_logit", lambda x: torch.special.logit(x / 8)),
    infinite("acosh", lambda x: torch.acosh(x + 1)),
]

TWO = [
    by(
        "atan2",
        lambda x, y: torch.atan2(x, y) + x,
        lambda x, y, one: const(torch.atan2(x, y)) * one + x,
        MATRIX,
        MATRIX,
        note="of two values",
    ),
    by("angle", lambda x: mixed(x).angle(), lambda x, one: const(mixed(x).angle()) * one, note="z"),
    by(
        "polar",
        lambda r: real(torch.polar(r, C)),
        lambda r, one: r.unsqueeze(-1) * torch.stack([C.cos(), C.sin()], -1),
        note="radius",
        positive=True,
    ),
    by(
        "polar",
        lambda r, a: real(torch.polar(r, a)),
        lambda r, a, one: r.unsqueeze(-1) * const(torch.stack([a.cos(), a.sin()], -1)),
        MATRIX,
        MATRIX,
        note="radius and angle",
        positive=True,
    ),
    by(
        "polar",
        lambda a: real(torch.polar(C, a)),
        lambda a, one: const(real(torch.polar(C, a))) * one,
        note="angle",
    ),
]

CASES = [*ORDINARY, *INFINITE, *TWO]
