"""LSTM and GRU cells, one step after the other, with each rule written out.

σ and tanh are secants from zero. A product of two gates gives half to each; of a gate and a value
(something that has just been through a weight matrix) the gate is constant.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tests.reference.formulas import const, half_each, secant

sigmoid = secant(torch.sigmoid)
tanh = secant(torch.tanh)


def mul(a: Tensor, b: Tensor) -> Tensor:
    return half_each(torch.mul, a, b)


def weight(cell: nn.Module, name: str) -> Tensor:
    """A parameter of a layer or a cell, as a constant."""
    one_layer = isinstance(cell, nn.RNNBase)
    return cell.get_parameter(f"{name}_l0" if one_layer else name).detach()


def lstm(cell: nn.Module, x: Tensor, one: Tensor) -> Tensor:
    """One layer, one direction; x is (time, batch, features). The first state is zero."""
    h = c = torch.zeros(x.shape[1], weight(cell, "weight_hh").shape[1], dtype=x.dtype)
    outputs = []
    for t in range(len(x)):
        before = x[t] @ weight(cell, "weight_ih").T + h @ weight(cell, "weight_hh").T
        before = before + (weight(cell, "bias_ih") + weight(cell, "bias_hh")) * one
        i, f, g, o = before.chunk(4, -1)
        c = mul(sigmoid(i, one), tanh(g, one)) + (mul(sigmoid(f, one), c) if t else 0)
        h = mul(sigmoid(o, one), tanh(c, one))
        outputs.append(h)
    return torch.stack(outputs)


def gru(cell: nn.Module, x: Tensor, one: Tensor) -> Tensor:
    """One layer, one direction; x is (time, batch, features). The first state is zero."""
    h = torch.zeros(x.shape[1], weight(cell, "weight_hh").shape[1], dtype=x.dtype)
    b_x, b_h = weight(cell, "bias_ih"), weight(cell, "bias_hh")
    outputs = []
    for t in range(len(x)):
        xr, xz, xn = (x[t] @ weight(cell, "weight_ih").T + b_x * one).chunk(3, -1)
        hr, hz, hn = (h @ weight(cell, "weight_hh").T + b_h * one).chunk(3, -1)
        r, z = sigmoid(xr + hr, one), sigmoid(xz + hz, one)
        # At first hn is a constant, which r multiplies; later it is a value, for which r is a gate.
        candidate = tanh(xn + (const(r) * hn if t else r * const(hn)), one)
        h = mul(one - z, candidate) + (mul(z, h) if t else 0)
        outputs.append(h)
    return torch.stack(outputs)


def rnn(cell: nn.Module, x: Tensor, one: Tensor, f: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """h ← f(W x + U h + b)"""
    h = torch.zeros(x.shape[1], weight(cell, "weight_hh").shape[1], dtype=x.dtype)
    bias = weight(cell, "bias_ih") + weight(cell, "bias_hh")
    outputs = []
    for t in range(len(x)):
        h = f(
            x[t] @ weight(cell, "weight_ih").T + h @ weight(cell, "weight_hh").T + bias * one, one
        )
        outputs.append(h)
    return torch.stack(outputs)


def rectified(x: Tensor, one: Tensor) -> Tensor:
    return torch.relu(x)
