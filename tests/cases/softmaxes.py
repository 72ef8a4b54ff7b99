"""Softmax is a constant, log-softmax a shift, a normaliser a constant."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from libragrad import ATTN_LRP, LIBRA
from tests.cases.shorthand import MATRIX, aten, by, constant_of, under
from tests.checks import Case
from tests.reference.formulas import const, constant, half_each

C = constant_of(*MATRIX)


def beside(name: str, f: Callable[..., Tensor], note: str = "") -> Case:
    """A constant, met beside a value so that the account has to count it."""
    return by(name, lambda x: f(x) + x, lambda x, one: const(f(x)) * one + x, note=note)


def shifted(name: str, f: Callable[[Tensor], Tensor], note: str = "") -> Case:
    return by(name, f, lambda x, one: x + const(f(x) - x) * one, note=note)


SOFTMAX = by("softmax", lambda x: x.softmax(-1), constant(lambda x: x.softmax(-1)), note="alone")
WEIGHTS = by(
    "softmax",
    lambda s, v: s.softmax(-1) @ v,
    lambda s, v, one: const(s.softmax(-1)) @ v,
    (3, 3),
    MATRIX,
    note="of values",
)
LOG = shifted("log_softmax", lambda x: x.log_softmax(-1))
NORMALISER = beside("logsumexp", lambda x: x.logsumexp(-1, keepdim=True))

CASES = [
    SOFTMAX,
    under(LIBRA.without("attention"), SOFTMAX),
    under(ATTN_LRP, SOFTMAX),
    WEIGHTS,
    under(LIBRA.without("attention"), WEIGHTS),
    under(ATTN_LRP, WEIGHTS, lambda s, v, one: half_each(torch.matmul, s.softmax(-1), v)),
    beside("softmax", lambda x: F.softmax(x, dim=0, dtype=torch.float64), "dtype"),
    beside("softmax", lambda x: torch.softmax(dim=-1, input=x), "keywords"),
    beside("_softmax", lambda x: aten._softmax.default(x, -1, False)),
    beside("softmin", lambda x: F.softmin(x, dim=-1)),
    beside("_safe_softmax", lambda x: torch._safe_softmax(x, -1)),
    beside("special_softmax", lambda x: torch.special.softmax(x, -1)),
    LOG,
    under(LIBRA.without("attention"), LOG),
    shifted("log_softmax", lambda x: F.log_softmax(x, dim=0), "function"),
    shifted("_log_softmax", lambda x: aten._log_softmax.default(x, -1, False)),
    shifted("special_log_softmax", lambda x: torch.special.log_softmax(x, -1)),
    NORMALISER,
    under(LIBRA.without("attention"), NORMALISER),
    beside("special_logsumexp", lambda x: torch.special.logsumexp(x, (0, 1))),
    beside("logaddexp", lambda x: torch.logaddexp(x, C)),
    beside("logcumsumexp", lambda x: x.logcumsumexp(1)),
]
