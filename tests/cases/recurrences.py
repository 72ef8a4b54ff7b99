"""Recurrent layers and cells, by the rules of their parts."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tests.cases.shorthand import by
from tests.checks import Case, draw
from tests.reference import recurrent

SEQUENCE = (3, 2, 4)  # time, batch, features
Reference = Callable[[nn.Module, Tensor, Tensor], Tensor]


def weighted(layer: nn.Module) -> nn.Module:
    for seed, p in enumerate(layer.parameters()):
        p.data = draw(*p.shape, seed=seed) / 2
    return layer


def layer_of(name: str, layer: nn.Module, reference: Reference) -> Case:
    weighted(layer)
    return by(name, lambda x: layer(x)[0], lambda x, one: reference(layer, x, one), SEQUENCE)


def cell_of(name: str, cell: nn.Module, reference: Reference) -> Case:
    """One step from a state of zeros."""
    weighted(cell)

    def step(x: Tensor) -> Tensor:
        y = cell(x[0])
        return y if isinstance(y, Tensor) else y[0]

    return by(name, step, lambda x, one: reference(cell, x[:1], one)[0], SEQUENCE)


def tanh(cell: nn.Module, x: Tensor, one: Tensor) -> Tensor:
    return recurrent.rnn(cell, x, one, recurrent.tanh)


def relu(cell: nn.Module, x: Tensor, one: Tensor) -> Tensor:
    return recurrent.rnn(cell, x, one, recurrent.rectified)


LAYERS = [
    layer_of("lstm", nn.LSTM(4, 3), recurrent.lstm),
    layer_of("gru", nn.GRU(4, 3), recurrent.gru),
    layer_of("rnn_tanh", nn.RNN(4, 3), tanh),
    layer_of("rnn_relu", nn.RNN(4, 3, nonlinearity="relu"), relu),
]

CELLS = [
    cell_of("lstm_cell", nn.LSTMCell(4, 3), recurrent.lstm),
    cell_of("gru_cell", nn.GRUCell(4, 3), recurrent.gru),
    cell_of("rnn_tanh_cell", nn.RNNCell(4, 3), tanh),
    cell_of("rnn_relu_cell", nn.RNNCell(4, 3, nonlinearity="relu"), relu),
]

BATCH_FIRST = weighted(nn.LSTM(4, 3, batch_first=True))
PACKED = weighted(nn.LSTM(4, 3))


def packed(x: Tensor) -> Tensor:
    """The first sequence has two steps, the second three."""
    sequence = pack_padded_sequence(x, torch.tensor([2, 3]), enforce_sorted=False)
    return pad_packed_sequence(PACKED(sequence)[0])[0]


def apart(x: Tensor, one: Tensor) -> Tensor:
    """The same two sequences one by one."""
    short = recurrent.lstm(PACKED, x[:2, :1], one)
    short = torch.cat([short, torch.zeros_like(short[:1])])
    return torch.cat([short, recurrent.lstm(PACKED, x[:, 1:], one)], 1)


FORMS = [
    by(
        "lstm",
        lambda x: BATCH_FIRST(x)[0],
        lambda x, one: recurrent.lstm(BATCH_FIRST, x.transpose(0, 1), one).transpose(0, 1),
        (2, 3, 4),
        note="batch first",
    ),
    *(
        by(name, packed, apart, SEQUENCE, note="packed")
        for name in ("lstm", "_pack_padded_sequence", "_pad_packed_sequence")
    ),
]

CASES = [*LAYERS, *CELLS, *FORMS]
