"""Operations that PyTorch fuses out of several.

Their value is native, their backward that of the formula written out, under the same preset
(SwapBackward of the two).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from libragrad.operators import swap_backward
from libragrad.rules.call import Call, Outcome, Tensors


def written_out(formula: Callable[..., Tensors]) -> Callable[[Call], Outcome]:
    """Make a rule from a formula of basic operations with the signature of the fused one."""

    def compound(call: Call) -> Outcome:
        value = call.pruned()
        with call.mode():
            surrogate = formula(*call.args, **call.kwargs)
        if isinstance(value, Tensor):
            return Outcome(swap_backward(value, surrogate))
        pairs = zip(value, surrogate, strict=True)
        return Outcome(tuple(swap_backward(v, s) if s.requires_grad else v for v, s in pairs))

    compound.__doc__ = formula.__doc__
    return compound


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Σ x₁ x₂ / (‖x₁‖ ‖x₂‖): a product over a denominator."""
    norms = x1.norm(dim=dim, keepdim=True).clamp_min(eps), x2.norm(dim=dim, keepdim=True)
    return ((x1 / norms[0]) * (x2 / norms[1].clamp_min(eps))).sum(dim)


def bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x₁ᵀ W x₂ + b."""
    y = torch.einsum("...i,oij,...j->...o", x1, weight, x2)
    return y if bias is None else y + bias


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """Return c + a / b."""
    return input + value * (tensor1 / tensor2)


def lerp(input: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """Return a + w (b − a)."""
    return input + weight * (end - input)


def hypot(input: Tensor, other: Tensor) -> Tensor:
    """Return √(a² + b²)."""
    return (input.square() + other.square()).sqrt()


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, *_: Any, **__: Any) -> Tensor:
    """Return ‖x₁ − x₂‖ₚ, which is 1-homogeneous."""
    return (x1.unsqueeze(-2) - x2.unsqueeze(-3)).norm(p=p, dim=-1)


def mse_loss(input: Tensor, target: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """Return the mean, or the sum, of (a − b)²."""
    square = (input - target).square()
    return square if reduction == "none" else getattr(square, reduction)()


def lstm(
    input: Tensor,
    hx: Any,
    params: Any,
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """i, f, o = σ(…), c ← f c + i tanh(…), h = o tanh(c): gates and values, step by step."""

    def step(gates: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        i, f, g, o = gates.chunk(4, -1)
        c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c

    out, states = _recur(
        input, hx, params, has_biases, num_layers, bidirectional, batch_first, step
    )
    return out, states[0], states[1]


def gru(
    input: Tensor,
    hx: Tensor,
    params: Any,
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor]:
    """r, z = σ(…), n = tanh(W x + r (U h)), h ← (1 − z) n + z h."""

    def step(gates: tuple[Tensor, Tensor], state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        xr, xz, xn = gates[0].chunk(3, -1)
        hr, hz, hn = gates[1].chunk(3, -1)
        r, z = (xr + hr).sigmoid(), (xz + hz).sigmoid()
        n = (xn + r * hn).tanh()
        return ((1 - z) * n + z * state[0],)

    out, states = _recur(
        input, (hx,), params, has_biases, num_layers, bidirectional, batch_first, step, apart=True
    )
    return out, states[0]


def _recur(
    x: Tensor,
    hx: Any,
    params: Any,
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
    step: Callable[..., tuple[Tensor, ...]],
    *,
    apart: bool = False,
) -> tuple[Tensor, list[Tensor]]:
    """Run a recurrent cell over time, layers and directions. x is (time, batch, features)."""
    x = x.transpose(0, 1) if batch_first else x
    directions = 2 if bidirectional else 1
    size = len(params) // (num_layers * directions)
    finals: list[tuple[Tensor, ...]] = []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            index = layer * directions + direction
            weights = params[index * size : (index + 1) * size]
            w_x, w_h = weights[:2]
            b_x, b_h = weights[2:4] if has_biases else (None, None)
            state = tuple(h[index] for h in hx)
            hidden = []
            times = reversed(range(len(x))) if direction else range(len(x))
            for t in times:
                from_x = torch.nn.functional.linear(x[t], w_x, b_x)
                from_h = torch.nn.functional.linear(state[0], w_h, b_h)
                state = step((from_x, from_h) if apart else from_x + from_h, state)
                hidden.append(state[0])
            finals.append(state)
            outputs.append(torch.stack(hidden[::-1] if direction else hidden))
        x = torch.cat(outputs, -1) if bidirectional else outputs[0]
    x = x.transpose(0, 1) if batch_first else x
    return x, [torch.stack(part) for part in zip(*finals, strict=True)]
