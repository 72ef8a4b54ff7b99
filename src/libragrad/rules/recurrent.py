"""Recurrent layers and cells, written out: gates and values, step by step.

A sequence is a list of steps, so that a packed one, whose later steps have fewer rows, is no other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

State: TypeAlias = tuple[Tensor, ...]
Step: TypeAlias = Callable[[Tensor, Tensor, State], State]
"""From W x + b, U h + b and the state before to the state after, whose first tensor is h."""


def _lstm_step(from_x: Tensor, from_h: Tensor, state: State) -> State:
    i, f, g, o = (from_x + from_h).chunk(4, -1)
    c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def _gru_step(from_x: Tensor, from_h: Tensor, state: State) -> State:
    xr, xz, xn = from_x.chunk(3, -1)
    hr, hz, hn = from_h.chunk(3, -1)
    r, z = (xr + hr).sigmoid(), (xz + hz).sigmoid()
    n = (xn + r * hn).tanh()
    return ((1 - z) * n + z * state[0],)


def _tanh_step(from_x: Tensor, from_h: Tensor, state: State) -> State:
    return ((from_x + from_h).tanh(),)


def _relu_step(from_x: Tensor, from_h: Tensor, state: State) -> State:
    return ((from_x + from_h).relu(),)


def lstm(input: Tensor, *options: Any) -> tuple[Tensor, ...]:
    """i, f, o = σ(…), c ← f c + i tanh(…), h = o tanh(c)."""
    return _layers(_lstm_step, input, *options)


def gru(input: Tensor, *options: Any) -> tuple[Tensor, ...]:
    """r, z = σ(…), n = tanh(W x + r (U h)), h ← (1 − z) n + z h."""
    return _layers(_gru_step, input, *options)


def rnn_tanh(input: Tensor, *options: Any) -> tuple[Tensor, ...]:
    """h ← tanh(W x + U h)."""
    return _layers(_tanh_step, input, *options)


def rnn_relu(input: Tensor, *options: Any) -> tuple[Tensor, ...]:
    """h ← ReLU(W x + U h)."""
    return _layers(_relu_step, input, *options)


def lstm_cell(input: Tensor, hx: Sequence[Tensor], *weights: Tensor | None) -> State:
    """One step of an LSTM."""
    return _advance(_lstm_step, input, tuple(hx), weights)


def gru_cell(input: Tensor, hx: Tensor, *weights: Tensor | None) -> Tensor:
    """One step of a GRU."""
    return _advance(_gru_step, input, (hx,), weights)[0]


def rnn_tanh_cell(input: Tensor, hx: Tensor, *weights: Tensor | None) -> Tensor:
    """One step of h ← tanh(W x + U h)."""
    return _advance(_tanh_step, input, (hx,), weights)[0]


def rnn_relu_cell(input: Tensor, hx: Tensor, *weights: Tensor | None) -> Tensor:
    """One step of h ← ReLU(W x + U h)."""
    return _advance(_relu_step, input, (hx,), weights)[0]


def _advance(step: Step, x: Tensor, state: State, weights: Sequence[Tensor | None]) -> State:
    w_x, w_h, b_x, b_h = (*weights, None, None)[:4]
    assert w_x is not None
    assert w_h is not None
    return step(F.linear(x, w_x, b_x), F.linear(state[0], w_h, b_h), state)


def _layers(step: Step, x: Tensor, *options: Any) -> tuple[Tensor, ...]:
    """Run a cell over time, layers and directions, as torch.lstm and its like take them."""
    sizes = None
    if isinstance(options[0], Tensor) and not options[0].is_floating_point():
        sizes, *options = options  # type: ignore[assignment]
    hx, weights, has_biases, layers, _, _, both, *first = options
    over_batch = bool(first and first[0])
    states = (hx,) if isinstance(hx, Tensor) else tuple(hx)
    directions = 2 if both else 1
    count = len(weights) // (layers * directions)
    if sizes is not None:
        steps = list(x.split(sizes.tolist()))
    else:
        steps = list((x.transpose(0, 1) if over_batch else x).unbind(0))
    finals: list[State] = []
    for layer in range(layers):
        passes = []
        for direction in range(directions):
            index = layer * directions + direction
            own = list(weights[index * count : (index + 1) * count])
            projection = own.pop() if count in (3, 5) else None
            start = tuple(h[index] for h in states)
            order = steps[::-1] if direction else steps
            hidden, final = _over_time(
                step, order, start, own if has_biases else own[:2], projection
            )
            finals.append(final)
            passes.append(hidden[::-1] if direction else hidden)
        steps = [torch.cat(parts, -1) for parts in zip(*passes, strict=True)] if both else passes[0]
    y = torch.cat(steps) if sizes is not None else torch.stack(steps, 1 if over_batch else 0)
    return y, *(torch.stack(part) for part in zip(*finals, strict=True))


def _over_time(
    step: Step,
    steps: list[Tensor],
    state: State,
    weights: Sequence[Tensor],
    projection: Tensor | None,
) -> tuple[list[Tensor], State]:
    """Advance the first rows of the state, as many as a step has; the others have ended."""
    hidden = []
    for x in steps:
        rows = len(x)
        new = _advance(step, x, tuple(h[:rows] for h in state), weights)
        if projection is not None:
            new = (F.linear(new[0], projection), *new[1:])
        hidden.append(new[0])
        ended = rows < len(state[0])
        pairs = zip(new, state, strict=True)
        state = tuple(torch.cat([n, h[rows:]]) for n, h in pairs) if ended else new
    return hidden, state
