"""Every method as a plain formula of a run that was written down in full (see transcript.py).

Rollouts are products of whole matrices, maps are sums in loops. Nothing is shared with the library.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from tests.reference.transcript import Formula, Transcript, given

Maps = tuple[Tensor, Tensor]
"""(B, N) of the tokens, and (B,) of what has no token."""
OfLayer = Callable[[Transcript, int], Tensor]
OfAttention = Callable[[Tensor, Tensor], Tensor]
"""From A and ∂A, (B, heads, N, N), to a matrix (B, N, N)."""


def nothing(t: Transcript) -> Maps:
    zero = torch.zeros(t.h[0].shape[:2], dtype=torch.float64)
    return zero, zero.sum(1)


def product(t: Transcript, layer: int) -> Tensor:
    """Σ_c h_l ⊙ ∂y/∂h_l"""
    h = t.h[layer]
    return (h * given(h)).sum(-1).detach()


def placed(t: Transcript, tokens: Tensor) -> Maps:
    return tokens, tokens.new_zeros(len(tokens))


def total(parts: list[Tensor]) -> Tensor:
    return torch.stack(parts).sum(0)


def plus(*maps: Maps) -> Maps:
    return total([m[0] for m in maps]), total([m[1] for m in maps])


def biases(t: Transcript) -> Maps:
    """Each additive constant once."""
    return plus(nothing(t), *(constant.amounts(t.h[0].shape[1]) for constant in t.constants))


def to_first_token(maps: Maps) -> Maps:
    """The paper's code: a head's bias goes to the first token."""
    tokens, rest = maps[0].clone(), maps[1]
    for row in range(len(tokens)):
        tokens[row, 0] = tokens[row, 0] + rest[row]
    return tokens, torch.zeros_like(rest)


def input_x_grad(t: Transcript) -> Maps:
    return placed(t, product(t, 0))


def every_input_x_grad(t: Transcript) -> Maps:
    return plus(*(placed(t, product(t, layer)) for layer in range(len(t.h))))


def fullgrad(t: Transcript) -> Maps:
    return plus(input_x_grad(t), biases(t))


def fullgrad_plus(t: Transcript) -> Maps:
    return plus(every_input_x_grad(t), biases(t))


def fullgrad_by_layers(t: Transcript) -> Maps:
    """Σ_l of FullGrad at layer l, which knows the biases from there on."""
    found = nothing(t)
    for layer in range(len(t.h)):
        found = plus(found, placed(t, product(t, layer)))
        for constant in t.constants:
            if constant.layer >= layer:
                found = plus(found, constant.amounts(t.h[0].shape[1]))
    return found


def hirescam(t: Transcript) -> Maps:
    return placed(t, product(t, len(t.h) - 1))


def gradcam_at(t: Transcript, layer: int) -> Tensor:
    h, g = t.h[layer].detach(), given(t.h[layer])
    B, N, C = h.shape
    a = h.new_zeros(B, N)
    for b in range(B):
        for c in range(C):
            w = g[b, :, c].sum() / N
            a[b] += w * h[b, :, c]
    return a


def xgradcam_at(t: Transcript, layer: int) -> Tensor:
    h, g = t.h[layer].detach(), given(t.h[layer])
    B, N, C = h.shape
    a = h.new_zeros(B, N)
    for b in range(B):
        for c in range(C):
            size = h[b, :, c].abs()
            w = (g[b, :, c] * size).sum() / (size.sum() + 1e-7)
            a[b] += w * h[b, :, c]
    return a


def layercam(t: Transcript) -> Maps:
    h = t.h[-1]
    return placed(t, (h * given(h).clamp_min(0)).sum(-1).detach())


def last(of: OfLayer, t: Transcript) -> Maps:
    return placed(t, of(t, len(t.h) - 1))


def every(of: OfLayer, t: Transcript) -> Maps:
    return placed(t, total([of(t, layer) for layer in range(len(t.h))]))


def received(t: Transcript, layer: int) -> Tensor:
    """Mean over heads and queries."""
    return t.a[layer].detach().mean(dim=(1, 2))


def attcat(t: Transcript) -> Maps:
    """Attention of block l × Input×Grad where block l begins."""
    return placed(t, total([received(t, i) * product(t, i) for i in range(len(t.h))]))


def attcat_paper(t: Transcript) -> Maps:
    """Attention of block l × Input×Grad where block l ends; the last block is left out."""
    pairs = range(len(t.h) - 1)
    return placed(t, total([received(t, i) * product(t, i + 1) for i in pairs]))


def head_mean(a: Tensor, da: Tensor) -> Tensor:
    return a.mean(1)


def weighed(a: Tensor, da: Tensor) -> Tensor:
    return (a * da).clamp_min(0).mean(1)


def read(t: Transcript, of: OfAttention, first: bool) -> Tensor:
    """(B, 1, N): what an attention pool reads, or the head, or (the paper) the first token."""
    if t.pool is not None:
        return of(t.pool.detach(), given(t.pool)).mean(1, keepdim=True)
    row = torch.eye(len(t.row), dtype=torch.float64)[0] if first else t.row
    return row.expand(t.h[0].shape[0], 1, -1)


def rollout(t: Transcript, of: OfAttention = head_mean, first: bool = False) -> Maps:
    """Π (½ Ā + ½ I), later layers on the left, then the row."""
    eye = torch.eye(t.a[0].shape[-1], dtype=torch.float64)
    R = eye
    for a in t.a:
        R = (0.5 * of(a.detach(), given(a)) + 0.5 * eye) @ R
    return placed(t, (read(t, of, first) @ R)[:, 0])


def genatt_by_chefer(t: Transcript) -> Tensor:
    """Π (I + mean_h ReLU(A ⊙ ∂A)) with whole ∂A: the original, whose scale is 2^L of ours."""
    eye = torch.eye(t.a[0].shape[-1], dtype=torch.float64)
    R = eye.expand(t.a[0].shape[0], -1, -1)
    for a in t.a:
        R = R + weighed(a.detach(), given(a)) @ R
    return (read(t, weighed, False) @ R)[:, 0]


def rawatt(t: Transcript, first: bool = False) -> Maps:
    if t.pool is not None:
        return placed(t, read(t, head_mean, first)[:, 0])
    return placed(t, (read(t, head_mean, first) @ t.a[-1].detach().mean(1))[:, 0])


def growth(e: Tensor, f: Tensor) -> Tensor:
    """W(E, Ẽ) = diag(‖Ẽ‖ / (‖E‖ + 1e−8) · softmax cos(E, Ẽ))"""
    cosine = (e * f).sum(-1) / (e.norm(dim=-1) * f.norm(dim=-1))
    return torch.diag_embed(f.norm(dim=-1) / (e.norm(dim=-1) + 1e-8) * cosine.softmax(-1))


def tokentm(t: Transcript, first: bool = False) -> Maps:
    C = torch.diag_embed(t.h[0].detach().norm(dim=-1))
    eye = torch.eye(C.shape[-1], dtype=torch.float64)
    for *stream, a in zip(t.h, t.middle, t.after, t.a, strict=True):
        h, middle, after = (x.detach() for x in stream)
        T = a.detach().mean(1) @ growth(h, middle)
        U_attention = eye + T * given(a).clamp_min(0).mean(1)
        U_mlp = eye + growth(middle, after)
        C = U_mlp @ U_attention @ C

    def pooled(a: Tensor, da: Tensor) -> Tensor:
        return a.mean(1) * da.clamp_min(0).mean(1)

    return placed(t, (read(t, pooled, first) @ C)[:, 0])


REFERENCE: dict[str, Formula] = {
    "input_x_grad": input_x_grad,
    "fullgrad": fullgrad,
    "fullgrad+": fullgrad_plus,
    "fullgrad+layers": fullgrad_by_layers,
    "hirescam": hirescam,
    "layercam": layercam,
    "gradcam": partial(last, gradcam_at),
    "gradcam+": partial(every, gradcam_at),
    "xgradcam": partial(last, xgradcam_at),
    "xgradcam+": partial(every, xgradcam_at),
    "attcat": attcat,
    "genatt": partial(rollout, of=weighed),
    "tokentm": tokentm,
    "rawatt": rawatt,
    "rollout": rollout,
}
"""By the key of the method."""

PAPER: dict[str, Formula] = {
    **REFERENCE,
    "fullgrad": lambda t: to_first_token(fullgrad(t)),
    "fullgrad+": lambda t: to_first_token(fullgrad_plus(t)),
    "fullgrad+layers": lambda t: to_first_token(fullgrad_by_layers(t)),
    "attcat": attcat_paper,
    "genatt": partial(rollout, of=weighed, first=True),
    "tokentm": partial(tokentm, first=True),
    "rawatt": partial(rawatt, first=True),
    "rollout": partial(rollout, first=True),
}
"""As the code of the LibraGrad paper has it."""

NEEDS_ATTENTION = frozenset({"attcat", "genatt", "tokentm", "rawatt", "rollout"})
