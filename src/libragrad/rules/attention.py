"""Attention: softmax and the fused scaled_dot_product_attention.

O = A V with A = softmax(QKᵀ/√d + mask). The weights A are no complete function of the input (they
say where the model looked, not what it used), so Libra-Attention prunes them: the gradient goes to
V alone, ∂V = Aᵀ g. A is never formed. With the row log-sum-exps λ that the fused kernel returns,
A_ij = exp(s_ij − λ_i), and so

    (Aᵀ g)_j = Z_j · softmax_i(s_ij − λ_i) g,    Z_j = Σ_i exp(s_ij − λ_i) ≤ N,

which is one more fused attention with Q and K exchanged and the mask transposed; log Z is its own
log-sum-exp. Time and memory are those of a forward.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from libragrad.operators import constant, scale, swap_backward
from libragrad.presets import CONSTANT, HALVES
from libragrad.rules.call import Call, Outcome
from libragrad.rules.status import Status

_FLASH = 1  # torch.nn.attention.SDPBackend.FLASH_ATTENTION


def softmax(call: Call) -> Outcome:
    """A = softmax(S): constant, or its own gradient where a preset says so."""
    if call.preset.attention is CONSTANT:
        return Outcome(call.pruned(), Status.WEIGHTS)
    return Outcome(call.run(), Status.WEIGHTS)


def log_softmax(call: Call) -> Outcome:
    """S − log Σ exp S: linear in S once the normaliser is constant (a bias)."""
    if call.preset.attention is not CONSTANT:
        return Outcome(call.run())
    x = call.live[0]
    value = call.pruned()
    shift = value - x.detach()
    return Outcome(_Shifted.apply(x, value), bias=lambda: shift)


def log_sum_exp(call: Call) -> Outcome:
    """Compute a normaliser: constant."""
    if call.preset.attention is CONSTANT:
        return Outcome(call.pruned())
    return Outcome(call.run(), Status.WEIGHTS)


def fused_attention(call: Call) -> Outcome:
    """F.scaled_dot_product_attention, of which no preset ever forms the N×N matrix."""
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    given = call.named(*names)
    q, k, v, mask = given["query"], given["key"], given["value"], given.get("attn_mask")
    if call.preset.attention is HALVES:
        shared = {role: scale(given[role], share) for role, share in _SHARES.items()}
        mask = mask if mask is None else scale(mask, 1 / 2)
        return Outcome(call.native(**{**given, **shared, "attn_mask": mask}))
    if call.preset.attention is not CONSTANT:
        return Outcome(call.run())
    if not v.requires_grad:
        return Outcome(call.pruned())
    q, k = constant(q), constant(k)
    relative = mask is not None and mask.requires_grad
    mask = mask if mask is None else constant(mask)
    given = {**given, "query": q, "key": k, "attn_mask": mask}
    if relative:  # PyTorch takes another kernel for a mask that learns, with its own rounding
        value = swap_backward(constant(call.run()), call.native(**given))
        return Outcome(value, rule="attention (explicit)")
    if not _has_fused_kernel(given):
        return Outcome(call.native(**given), rule="attention (explicit)")
    causal = bool(given.get("is_causal", False))
    value = _ToValuesAlone.apply(q, k, v, mask, causal, given.get("scale"))
    return Outcome(value, rule="attention (fused)")


_SHARES = {"query": 1 / 4, "key": 1 / 4, "value": 1 / 2}
"""Halves of halves: A V gives ½ to V and ½ to A, and A's half goes to Q and K by halves."""


def _has_fused_kernel(given: dict[str, Any]) -> bool:
    """Ask PyTorch which kernel it will take; only the CPU's returns λ in a form known here."""
    q, k, v = given["query"], given["key"], given["value"]
    if q.device.type != "cpu" or given.get("dropout_p", 0.0) or torch.is_autocast_enabled("cpu"):
        return False
    choice = torch._fused_sdp_choice(
        q,
        k,
        v,
        given.get("attn_mask"),
        0.0,
        given.get("is_causal", False),
        scale=given.get("scale"),
        enable_gqa=given.get("enable_gqa", False),
    )
    return choice == _FLASH


class _ToValuesAlone(torch.autograd.Function):
    """The fused kernel forward; the fused kernel with Q and K exchanged backward."""

    @staticmethod
    def forward(
        ctx: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        causal: bool,
        factor: float | None,
    ) -> Tensor:
        if mask is not None and mask.dtype == torch.bool:
            mask = torch.zeros_like(mask, dtype=q.dtype).masked_fill_(~mask, -math.inf)
        out, lse = _kernel(q, k, v, mask, causal, factor)
        ctx.save_for_backward(q, k, mask, lse)
        ctx.causal, ctx.factor = causal, factor
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        q, k, mask, lse = ctx.saved_tensors
        return None, None, transposed_attention(q, k, g, mask, lse, ctx.causal, ctx.factor), *_NONE


_NONE = (None, None, None)


def transposed_attention(
    q: Tensor,
    k: Tensor,
    g: Tensor,
    mask: Tensor | None,
    lse: Tensor,
    causal: bool,
    factor: float | None,
) -> Tensor:
    """Return Aᵀ g in memory linear in the tokens."""
    groups = q.shape[1] // k.shape[1]
    keys = k.repeat_interleave(groups, 1) if groups > 1 else k
    if causal and q.shape[2] != k.shape[2]:
        corner = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).tril_()
        mask = torch.zeros_like(corner, dtype=q.dtype).masked_fill_(~corner, -math.inf)
        causal = False
    if mask is not None and mask.dim() == 2:
        mask = mask[None, None]
    if mask is None or mask.shape[2] == 1:
        values = _over_queries(q, keys, g, lse, mask, causal, factor)
    else:
        values = _with_mask(q, keys, g, mask.transpose(-1, -2), lse, causal, factor)
    if groups > 1:
        values = values.unflatten(1, (k.shape[1], groups)).sum(2)
    return values.to(g.dtype)


def _over_queries(
    q: Tensor,
    k: Tensor,
    g: Tensor,
    lse: Tensor,
    mask: Tensor | None,
    causal: bool,
    factor: float | None,
) -> Tensor:
    """No mask, or one of keys alone: −λ rides as a broadcast mask, and exp(m_j) is a factor of Z_j.

    Causal attention, reversed in time, is causal again.
    """
    shift = -lse.unsqueeze(2)
    if causal:
        q, k, g, shift = q.flip(2), k.flip(2), g.flip(2), shift.flip(3)
    out, log_z = _kernel(k, q, g.contiguous(), shift.contiguous(), causal, factor)
    if causal:
        out, log_z = out.flip(2), log_z.flip(2)
    if mask is not None:
        log_z = log_z + mask.squeeze(2)
    return out * log_z.exp().unsqueeze(-1)


def _with_mask(
    q: Tensor,
    k: Tensor,
    g: Tensor,
    mask: Tensor,
    lse: Tensor,
    causal: bool,
    factor: float | None,
) -> Tensor:
    """The mask takes the mask's place, so −λ rides in one more head dimension: 1 · (−λ/scale)."""
    factor = q.shape[-1] ** -0.5 if factor is None else factor
    wide = lse.dtype  # float32 at least: λ would not survive half precision
    q = torch.cat([q.to(wide), (-lse / factor).unsqueeze(-1)], -1)
    k = F.pad(k.to(wide), (0, 1), value=1.0)
    g = F.pad(g.to(wide), (0, 1))
    if causal:
        q, k, g, mask = q.flip(2), k.flip(2), g.flip(2), mask.flip(2, 3)
    out, log_z = _kernel(k, q, g, mask.to(wide), causal, factor)
    values = out[..., :-1] * log_z.exp().unsqueeze(-1)
    return values.flip(2) if causal else values


def _kernel(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, factor: float | None
) -> tuple[Tensor, Tensor]:
    """Return (output, λ) of the CPU's fused attention."""
    out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        q, k, v, 0.0, causal, attn_mask=mask, scale=factor
    )
    return out, lse


class _Shifted(torch.autograd.Function):
    """y = x + [shift]const, with y as the native kernel computed it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, value: Tensor) -> Tensor:
        return value.detach()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return g, None
