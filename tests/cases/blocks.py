"""What models are made of, written out: several rules at work together."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from libragrad import ATTN_LRP, CP_LRP, DECOMPX, LIBRA, STANDARD
from tests.cases.shorthand import CUBE, IMAGE, by, constant_of, under
from tests.reference.formulas import attention, const, half_each, standardised

UP, GATE, DOWN = (constant_of(4, 4, seed=seed) for seed in (1, 2, 3))
QUERY, KEY, VALUE = (constant_of(4, 4, seed=seed) for seed in (4, 5, 6))
SQUEEZE, EXCITE = constant_of(2, 4), constant_of(4, 2)
B1, B2 = constant_of(2, seed=7), constant_of(4, seed=8)
MIXER = constant_of(4, 1, 3, 3)


def silu(x: Tensor) -> Tensor:
    return x * const(x.sigmoid())


def gelu(x: Tensor) -> Tensor:
    return x * const((1 + torch.erf(x / math.sqrt(2))) / 2)


SWIGLU = by(
    "mul",
    lambda x: (F.silu(x @ GATE) * (x @ UP)) @ DOWN,
    lambda x, one: half_each(torch.mul, silu(x @ GATE), x @ UP) @ DOWN,
    note="SwiGLU",
)

GATED_MLPS = [
    SWIGLU,
    under(STANDARD, SWIGLU),
    under(CP_LRP, SWIGLU, lambda x, one: const(silu(x @ GATE)) * (x @ UP) @ DOWN),
    under(DECOMPX, SWIGLU, lambda x, one: silu(x @ GATE) * (x @ UP) @ DOWN),
    by(
        "mul",
        lambda x: F.gelu(x @ GATE).mul_(x @ UP),
        lambda x, one: half_each(torch.mul, gelu(x @ GATE), x @ UP),
        note="GeGLU in place",
    ),
    by(
        "mul",
        lambda x: torch.sigmoid(x @ GATE) * (x @ UP),
        lambda x, one: const(torch.sigmoid(x @ GATE)) * (x @ UP),
        note="GLU",
    ),
    by(
        "chunk",
        lambda x: torch.mul(*(x @ UP).chunk(2, -1)),
        lambda x, one: half_each(torch.mul, *(x @ UP).chunk(2, -1)),
        note="two branches",
    ),
]


def eager(x: Tensor) -> Tensor:
    q, k, v = x @ QUERY, x @ KEY, x @ VALUE
    scores = q @ k.transpose(-2, -1) / math.sqrt(4)
    return scores.softmax(dim=-1) @ v


def by_einsum(x: Tensor) -> Tensor:
    q, k, v = x @ QUERY, x @ KEY, x @ VALUE
    scores = torch.einsum("bic,bjc->bij", q, k) * 0.5
    return torch.einsum("bij,bjc->bic", F.softmax(scores, -1), v)


def by_hand(x: Tensor) -> Tensor:
    """Softmax itself written out."""
    scores = (x @ QUERY) @ (x @ KEY).mT / 2
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    return (weights / weights.sum(-1, keepdim=True)) @ (x @ VALUE)


def linear_attention(x: Tensor) -> Tensor:
    q, k = F.elu(x @ QUERY) + 1, F.elu(x @ KEY) + 1
    return q @ (k.mT @ (x @ VALUE))


def constant_features(x: Tensor, one: Tensor) -> Tensor:
    q, k = F.elu(x @ QUERY) + 1, F.elu(x @ KEY) + 1
    return const(q) @ (const(k).mT @ (x @ VALUE))


def constant_weights(x: Tensor, one: Tensor) -> Tensor:
    return attention(x @ QUERY, x @ KEY, x @ VALUE)


def halves_of_attention(x: Tensor, one: Tensor) -> Tensor:
    scores = half_each(torch.matmul, x @ QUERY, (x @ KEY).mT) / 2
    return half_each(torch.matmul, scores.softmax(-1), x @ VALUE)


ATTENTION = by("matmul", eager, constant_weights, CUBE, note="attention")

ATTENTIONS = [
    ATTENTION,
    under(STANDARD, ATTENTION),
    under(LIBRA.without("attention"), ATTENTION),
    under(ATTN_LRP, ATTENTION, halves_of_attention),
    by("einsum", by_einsum, constant_weights, CUBE, note="attention"),
    by("exp", by_hand, constant_weights, CUBE, note="attention"),
    by("elu", linear_attention, constant_features, CUBE, note="linear attention"),
]


def squeeze_excite(x: Tensor) -> Tensor:
    h = F.relu(F.linear(x.mean((2, 3)), SQUEEZE, B1))
    return x * torch.sigmoid(F.linear(h, EXCITE, B2))[..., None, None]


def excited(x: Tensor, one: Tensor) -> Tensor:
    return x * const(squeeze_excite(x) / x)


def mamba_out(x: Tensor) -> Tensor:
    """Normalise, gate a convolved branch by an activated one, add."""
    h = F.layer_norm(x, (4,))
    mixed = F.conv2d((h @ UP).permute(0, 3, 1, 2), MIXER, padding=1, groups=4)
    return x + (F.gelu(h @ GATE) * mixed.permute(0, 2, 3, 1)) @ DOWN


def balanced_mamba_out(x: Tensor, one: Tensor) -> Tensor:
    h = standardised(x, (-1,))
    mixed = F.conv2d((h @ UP).permute(0, 3, 1, 2), MIXER, padding=1, groups=4)
    return x + half_each(torch.mul, gelu(h @ GATE), mixed.permute(0, 2, 3, 1)) @ DOWN


def layer_scale(x: Tensor) -> Tensor:
    y = x.clone()
    y += F.gelu(F.layer_norm(x, (4,), B2, B2)).mul_(B2)
    return y


BLOCKS = [
    by("sigmoid", squeeze_excite, excited, IMAGE, note="squeeze and excitation"),
    by("conv2d", mamba_out, balanced_mamba_out, (2, 3, 3, 4), note="MambaOut"),
    by(
        "add",
        layer_scale,
        lambda x, one: x + gelu(standardised(x, (-1,)) * B2 + B2 * one) * B2,
        note="layer scale in place",
    ),
    by(
        "div",
        lambda x: x / x.abs().sum(-1, keepdim=True).clamp_min(1e-3),
        lambda x, one: x / const(x.abs().sum(-1, keepdim=True)),
        note="L1 norm",
    ),
    by(
        "rsub",
        lambda x: (1 - x.sigmoid()) * x,
        lambda x, one: const(1 - x.sigmoid()) * x,
        note="a gate's complement",
    ),
]

CASES = [*GATED_MLPS, *ATTENTIONS, *BLOCKS]
