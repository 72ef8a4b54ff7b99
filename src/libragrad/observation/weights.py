"""Where attention is applied: a fused call, or a product whose first factor came from a softmax."""

from __future__ import annotations

from torch import Tensor

from libragrad.observation.attention import Fused, Weights, Written
from libragrad.rules.call import Call
from libragrad.rules.status import MARK, Status

_PRODUCTS = frozenset({"matmul", "bmm"})


def weights_of(call: Call, rows: int) -> Weights | None:
    """Return the attention weights that an operation applies, if it applies any."""
    if call.name == "scaled_dot_product_attention":
        return _fused(call, rows)
    if call.name in _PRODUCTS:
        names = ("input", "mat2" if call.name == "bmm" else "other")
        given = call.named(*names)
        return _written(call, given[names[0]], given[names[1]], rows)
    if call.name == "einsum" and len(call.args) == 3:
        equation, a, v = call.args
        return _written(call, a, v, rows, equation)
    return None


def _fused(call: Call, rows: int) -> Fused:
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    given = call.named(*names)
    q, k, v = (_by_heads(given[name].detach(), rows) for name in names[:3])
    mask = given.get("attn_mask")
    causal, factor = bool(given.get("is_causal", False)), given.get("scale")
    return Fused(q, k, v, None if mask is None else mask.detach(), causal, factor, rows)


def _written(
    call: Call, a: object, v: object, rows: int, equation: str | None = None
) -> Written | None:
    if not isinstance(a, Tensor) or not isinstance(v, Tensor) or a.dim() < 3:
        return None
    if getattr(a, MARK, None) is not Status.WEIGHTS:
        return None
    native = call.native

    def product(a: Tensor, v: Tensor) -> Tensor:
        y: Tensor = native(a, v) if equation is None else native(equation, a, v)
        return y

    return Written(a.detach(), v.detach(), product, rows)


def _by_heads(x: Tensor, rows: int) -> Tensor:
    """(rows · heads, tokens, width) as (rows, heads, tokens, width)."""
    return x.reshape(rows, -1, *x.shape[-2:]) if x.dim() == 3 else x
