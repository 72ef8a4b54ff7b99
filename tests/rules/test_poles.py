"""Where f(x)/x reads 0/0 the gate and the slope are the limit; far away they are exact too."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from libragrad import balanced

FAR = 1e30


def slope(f, x: float) -> float:
    at = torch.tensor([x], dtype=torch.float64, requires_grad=True)
    with balanced():
        y = f(at)
    (g,) = torch.autograd.grad(y, at)
    return g.item()


@pytest.mark.parametrize(
    ("f", "limit"),
    [
        (F.gelu, 1 / 2),
        (lambda x: F.gelu(x, approximate="tanh"), 1 / 2),
        (F.silu, 1 / 2),
        (lambda x: x * torch.sigmoid(1.702 * x), 1 / 2),
        (F.hardswish, 1 / 2),
        (F.mish, math.tanh(math.log(2))),
        (torch.tanh, 1),
        (torch.sigmoid, 1 / 4),
        (F.softplus, 1 / 2),
        (F.elu, 1),
        (torch.erf, 2 / math.sqrt(math.pi)),
        (torch.exp, 1),
        (torch.cos, 0),
        (lambda x: torch.relu(x) ** 2, 0),
    ],
)
def test_at_zero(f, limit):
    assert slope(f, 0.0) == pytest.approx(limit, rel=1e-15)
    assert slope(f, -0.0) == pytest.approx(limit, rel=1e-15)
    assert slope(f, 1e-8) == pytest.approx(limit, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("f", [F.gelu, F.silu, F.hardswish, F.mish])
def test_far_away(f):
    assert slope(f, FAR) == pytest.approx(1, rel=1e-15)
    assert slope(f, -FAR) == 0


def test_a_root_passes_nothing_at_zero():
    assert slope(torch.sqrt, 0.0) == 0
    assert slope(torch.sqrt, 4.0) == 1 / 2


def test_a_saturated_gate_has_no_slope():
    assert slope(torch.tanh, FAR) == pytest.approx(1 / FAR)
    assert slope(torch.sigmoid, -FAR) == pytest.approx(0.5 / FAR)
