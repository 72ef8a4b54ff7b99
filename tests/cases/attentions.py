"""F.scaled_dot_product_attention: [A] V, in every form that PyTorch takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from libragrad import ATTN_LRP, LIBRA, STANDARD
from tests.cases.shorthand import by, constant_of, under
from tests.checks import Case
from tests.reference.formulas import attention, const, half_each

HEADS = (2, 3, 5, 4)  # batch, heads, tokens, channels of a head
SEEN = torch.tensor([True, True, False, True, True])
PAIRS = constant_of(5, 5) > -1
FIRST_BLIND = PAIRS & (torch.arange(5) != 0)[:, None]
BIAS = constant_of(1, 3, 5, 5)

NAME = "scaled_dot_product_attention"


def fused(
    note: str,
    *shapes: tuple[int, ...],
    mask: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
    grouped: bool = False,
) -> Case:
    """[softmax(Q Kᵀ · scale + mask)] V"""

    def operation(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        m = mask.to(q.dtype) if mask is not None and mask.dtype != torch.bool else mask
        return F.scaled_dot_product_attention(
            q, k, v, m, is_causal=causal, scale=scale, enable_gqa=grouped
        )

    def reference(q: Tensor, k: Tensor, v: Tensor, one: Tensor) -> Tensor:
        return attention(q, k, v, mask, causal=causal, scale=scale)

    return by(NAME, operation, reference, *(shapes or [HEADS] * 3), note=note)


def cross(queries: int, keys: int, size: int = 4, values: int | None = None) -> tuple[Any, ...]:
    return (
        (2, 3, queries, size),
        (2, 3, keys, size),
        (2, 3, keys, size if values is None else values),
    )


PLAIN = fused("")

SHAPES = [
    PLAIN,
    fused("of a batch without heads", *[(3, 5, 4)] * 3),
    fused("of one sequence", *[(5, 4)] * 3),
    fused("of one token", *cross(1, 1)),
    fused("of one query", *cross(1, 5)),
    fused("across", *cross(4, 6)),
    fused("with wider values", *cross(4, 6, values=8)),
    *[fused(f"with heads of {size}", *cross(5, 5, size)) for size in (1, 3, 32, 72)],
    fused("with a scale", scale=0.7),
    fused("of more tokens than a block", *cross(70, 67, 8)),
]

MASKS = [
    fused("keys masked, by image", mask=SEEN[None, None, None]),
    fused("keys masked, two ways", mask=torch.stack([SEEN, SEEN.flip(0)])[:, None, None]),
    fused("pairs masked", mask=PAIRS),
    fused("pairs masked, by image", mask=PAIRS.expand(2, 1, 5, 5)),
    fused("a query that sees nothing", mask=FIRST_BLIND),
    fused("biased", mask=BIAS),
    fused("biased by a mask of three dimensions", mask=BIAS[0]),
    fused("biased by key", mask=BIAS[:, :, :1]),
    fused("biased by query", mask=BIAS[..., :1]),
    fused("biased and masked", mask=BIAS.masked_fill(~PAIRS, -torch.inf)),
    fused("masked across", *cross(4, 6), mask=constant_of(4, 6) > -1),
    fused("masked without heads", *[(3, 5, 4)] * 3, mask=PAIRS),
    fused("biased by image", mask=constant_of(2, 1, 5, 5)),
    fused("masked with a scale", mask=BIAS, scale=0.3),
]

CAUSAL = [
    fused("causal", causal=True),
    fused("causal, more queries", *cross(7, 5), causal=True),
    fused("causal, more keys", *cross(5, 7), causal=True),
    fused("causal, a scale", causal=True, scale=0.3),
    fused("causal, without heads", *[(3, 5, 4)] * 3, causal=True),
    fused("causal, long", *cross(70, 70, 8), causal=True),
]

GROUPED: tuple[tuple[int, ...], ...] = ((2, 6, 5, 4), (2, 2, 5, 4), (2, 2, 5, 4))
GROUPS = [
    fused("grouped", *GROUPED, grouped=True),
    fused("grouped, one head of keys", (2, 6, 5, 4), *[(2, 1, 5, 4)] * 2, grouped=True),
    fused("grouped, causal", *GROUPED, grouped=True, causal=True),
    fused("grouped, masked", *GROUPED, grouped=True, mask=PAIRS),
    fused("grouped, biased by image", *GROUPED, grouped=True, mask=BIAS[:, :1]),
]


def in_type(case: Case, dtype: torch.dtype, tolerance: float) -> Case:
    """The same computed in another type."""

    def operation(*inputs: Tensor) -> Tensor:
        y: Tensor = case.operation(*(x.to(dtype) for x in inputs))
        return y.double()

    def rounded(*inputs: Tensor) -> Tensor:
        """The formula at the inputs that the type can hold, with the value of the operation."""
        *x, one = inputs
        near = [t + const(t.to(dtype).double() - t) for t in x]
        y = case.reference(*near, one)
        return y + const(operation(*x) - y)

    return replace(
        case,
        operation=operation,
        reference=rounded,
        note=f"{case.note} in {str(dtype).removeprefix('torch.')}".strip(),
        tolerance=tolerance,
    )


PRECISIONS = ((torch.float32, 3e-6), (torch.bfloat16, 5e-2), (torch.float16, 5e-3))
TYPES = [
    in_type(case, dtype, tolerance)
    for case in (PLAIN, MASKS[0], MASKS[5], CAUSAL[0], CAUSAL[1], GROUPS[2])
    for dtype, tolerance in PRECISIONS
]


def shared(x: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(x, x, x)


def halved(q: Tensor, k: Tensor, v: Tensor, one: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax keeps its gradient; Q Kᵀ and A V give half to each of their factors."""
    scores = half_each(torch.matmul, q, k.mT) * q.shape[-1] ** -0.5
    scores = scores if mask is None else scores + mask
    return half_each(torch.matmul, scores.softmax(-1), v)


def with_live_bias(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


LIVE_BIAS = by(
    NAME,
    with_live_bias,
    lambda q, k, v, bias, one: attention(q, k, v, const(bias)),
    *[HEADS] * 3,
    (1, 3, 5, 5),
    note="biased by the input",
)
SHARED = by(
    NAME, shared, lambda x, one: attention(x, x, x), HEADS, note="one tensor in three roles"
)
FIXED = constant_of(*HEADS)

ROLES = [
    SHARED,
    LIVE_BIAS,
    by(
        NAME,
        lambda q, k: F.scaled_dot_product_attention(q, k, FIXED) + q,
        lambda q, k, one: const(attention(q, k, FIXED)) * one + q,
        *[HEADS] * 2,
        note="of constant values",
    ),
    by(
        NAME,
        lambda v: F.scaled_dot_product_attention(value=v, key=FIXED, query=FIXED),
        lambda v, one: attention(FIXED, FIXED, v),
        HEADS,
        note="of constant weights, keywords",
    ),
    by(
        NAME,
        lambda q, k, v: F.scaled_dot_product_attention(30 * q, 30 * k, v),
        lambda q, k, v, one: attention(30 * q, 30 * k, v),
        *[HEADS] * 3,
        note="of large scores",
    ),
    by(
        NAME,
        lambda q, k, v: F.scaled_dot_product_attention(
            *(t.transpose(1, 2) for t in (q, k, v))
        ).transpose(1, 2),
        lambda q, k, v, one: attention(*(t.transpose(1, 2) for t in (q, k, v))).transpose(1, 2),
        *[(2, 5, 3, 4)] * 3,
        note="of transposed tensors",
    ),
]

PRESETS = [
    under(STANDARD, PLAIN),
    under(LIBRA.without("attention"), CAUSAL[0]),
    under(ATTN_LRP, PLAIN, halved),
    under(ATTN_LRP, MASKS[5], lambda q, k, v, one: halved(q, k, v, one, BIAS)),
    under(ATTN_LRP, SHARED, lambda x, one: halved(x, x, x, one)),
    under(
        ATTN_LRP,
        LIVE_BIAS,
        lambda q, k, v, bias, one: halved(q, k, v, one, bias),
    ),
]

CASES = [*SHAPES, *MASKS, *CAUSAL, *GROUPS, *TYPES, *ROLES, *PRESETS]
