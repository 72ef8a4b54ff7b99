"""Gated activations, x ⊙ [γ(x)], as one operation and written out."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from libragrad import ALI_LRP, LIBRA
from tests.cases.shorthand import aten, by, under
from tests.reference.formulas import by_gate, const


def erf_gate(x: Tensor) -> Tensor:
    return (1 + torch.erf(x / math.sqrt(2))) / 2


def tanh_gate(x: Tensor) -> Tensor:
    return (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def mish_gate(x: Tensor) -> Tensor:
    return torch.tanh(F.softplus(x))


def hard_gate(x: Tensor) -> Tensor:
    return (x / 6 + 0.5).clamp(0, 1)


def gelu_written_out(x: Tensor) -> Tensor:
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2)))


GELU = by("gelu", F.gelu, by_gate(erf_gate))
SILU = by("silu", F.silu, by_gate(torch.sigmoid))
SQUARED = by_gate(torch.relu)

FUSED = [
    GELU,
    under(ALI_LRP, GELU),
    by("gelu", lambda x: F.gelu(x, approximate="tanh"), by_gate(tanh_gate), note="tanh"),
    by("gelu", lambda x: F.gelu(approximate="none", input=x), by_gate(erf_gate), note="keywords"),
    by("gelu", aten.gelu.default, by_gate(erf_gate), note="aten"),
    SILU,
    under(LIBRA.without("activation"), SILU),
    by("silu", lambda x: F.silu(x.clone(), inplace=True), by_gate(torch.sigmoid), note="in place"),
    by("mish", F.mish, by_gate(mish_gate)),
    by("mish", lambda x: F.mish(x.clone(), True), by_gate(mish_gate), note="in place"),
    by("hardswish", lambda x: F.hardswish(3 * x), lambda x, one: 3 * x * const(hard_gate(3 * x))),
    by("hardswish", lambda x: F.hardswish(x.clone(), True), by_gate(hard_gate), note="in place"),
]

QUICK = by(
    "mul", lambda x: x * torch.sigmoid(1.702 * x), by_gate(lambda x: torch.sigmoid(1.702 * x))
)

WRITTEN_OUT = [
    QUICK,
    under(LIBRA.without("activation"), QUICK),
    by("mul", gelu_written_out, by_gate(erf_gate), note="GELU written out"),
    by("mul", lambda x: x.mul(x.sigmoid()), by_gate(torch.sigmoid), note="SiLU written out"),
    by("mul", lambda x: F.softplus(x).tanh() * x, by_gate(mish_gate), note="Mish written out"),
    by("pow", lambda x: torch.relu(x) ** 2, SQUARED, note="squared ReLU"),
    by("square", lambda x: torch.relu(x).square(), SQUARED, note="squared ReLU"),
    by("mul", lambda x: x.relu() * x.relu(), SQUARED, note="squared ReLU"),
]

GLU = by("glu", F.glu, lambda x, one: x[:, :2] * const(x[:, 2:].sigmoid()))

GATED = [
    GLU,
    under(LIBRA.without("activation"), GLU),
    by(
        "glu",
        lambda x: F.glu(dim=0, input=x),
        lambda x, one: x[:2] * const(x[2:].sigmoid()),
        (4, 3),
        note="of rows",
    ),
]

CASES = [*FUSED, *WRITTEN_OUT, *GATED]
