"""A and ∂A of a fused call are those of the written formula, for every argument that it takes."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from libragrad.observation.attention import Attention, Fused, Written
from tests.checks import draw
from tests.methods.tiny import agrees

ROWS, HEADS, QUERIES, KEYS, WIDTH = 2, 4, 5, 7, 3


def causal_mask(queries: int, keys: int) -> Tensor:
    return torch.ones(queries, keys, dtype=torch.bool).tril()


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "scale": {"scale": 0.3},
    "causal": {"is_causal": True},
    "boolean mask": {"attn_mask": causal_mask(QUERIES, KEYS)},
    "float mask": {"attn_mask": draw(QUERIES, KEYS, seed=7)},
    "a mask a row": {"attn_mask": draw(ROWS, 1, QUERIES, KEYS, seed=8)},
    "a mask of keys": {"attn_mask": draw(ROWS, 1, 1, KEYS, seed=9) > -1},
    "a mask a head": {"attn_mask": draw(1, HEADS, QUERIES, KEYS, seed=10)},
    "grouped queries": {"enable_gqa": True},
}


def written(q: Tensor, k: Tensor, **given: Any) -> Tensor:
    scores = q @ k.mT * (given.get("scale") or WIDTH**-0.5)
    mask = causal_mask(QUERIES, KEYS) if given.get("is_causal") else given.get("attn_mask")
    if mask is not None and mask.dtype == torch.bool:
        mask = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -math.inf)
    if mask is not None:
        scores = scores + mask
    return scores.softmax(-1)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("entries", [1, 1 << 20])
def test_fused_attention_is_the_written_formula(
    name: str, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few queries at a time, or all."""
    monkeypatch.setattr("libragrad.observation.attention._ENTRIES", entries)
    given = CASES[name]
    groups = 2 if given.get("enable_gqa") else 1
    q = draw(ROWS, HEADS, QUERIES, WIDTH, seed=1)
    k, v = (draw(ROWS, HEADS // groups, KEYS, WIDTH, seed=seed) for seed in (2, 3))
    g = draw(ROWS, HEADS, QUERIES, WIDTH, seed=4)
    every_k, every_v = (x.repeat_interleave(groups, 1) for x in (k, v))
    a = written(q, every_k, **given).requires_grad_()
    out = a @ every_v
    assert agrees(out, F.scaled_dot_product_attention(q, k, v, **given))
    (da,) = torch.autograd.grad(out, a, g)

    fused = Fused(
        q,
        k,
        v,
        given.get("attn_mask"),
        bool(given.get("is_causal")),
        given.get("scale"),
        ROWS,
    )
    event = Attention(0, fused, g)
    assert fused.shape == (QUERIES, KEYS)
    r = draw(ROWS, QUERIES, seed=5)
    for of in (
        lambda a, da: a.mean(1),
        lambda a, da: (a * da).relu().mean(1),
        lambda a, da: a.mean(1) * da.relu().mean(1),
    ):
        wanted = torch.einsum("bq,bqk->bk", r, of(a, da))
        assert agrees(event.pull(r, of), wanted)
    assert agrees(torch.cat([weights for _, weights, _ in fused.some(g, True)], 2), a)


def test_a_written_product_in_any_spelling() -> None:
    """(B, heads, N, N) @ V, (B · heads, N, N) by bmm, and an einsum with the heads elsewhere."""
    a = draw(ROWS, HEADS, QUERIES, KEYS, seed=1).softmax(-1)
    v, g = draw(ROWS, HEADS, KEYS, WIDTH, seed=2), draw(ROWS, HEADS, QUERIES, WIDTH, seed=3)
    wanted = g @ v.mT
    r = draw(ROWS, QUERIES, seed=4)

    def pulled(weights: Written, g: Tensor) -> Tensor:
        return Attention(0, weights, g).pull(r, lambda a, da: (a * da).mean(1))

    spelt = [
        (Written(a, v, torch.matmul, ROWS), g),
        (Written(a.flatten(0, 1), v.flatten(0, 1), torch.bmm, ROWS), g.flatten(0, 1)),
        (
            Written(
                a,
                v.transpose(1, 2),
                lambda a, v: torch.einsum("bhqk,bkhd->bqhd", a, v),
                ROWS,
            ),
            g.transpose(1, 2),
        ),
    ]
    for weights, gradient in spelt:
        assert weights.shape == (QUERIES, KEYS)
        assert agrees(
            pulled(weights, gradient), torch.einsum("bq,bqk->bk", r, (a * wanted).mean(1))
        )


def test_a_row_is_pulled_in_the_order_of_the_tokens() -> None:
    """Where the model keeps token i at order[i], rows and columns of A are permuted."""
    order = (3, 0, 2, 1)
    a = draw(1, 2, 4, 4, seed=1).softmax(-1)
    v = draw(1, 2, 4, 3, seed=2)
    r = draw(1, 4, seed=3)
    event = Attention(0, Written(a, v, torch.matmul, 1), draw(1, 2, 4, 3, seed=4), order)
    canonical = a[:, :, list(order)][..., list(order)].mean(1)
    found = event.pull(r, lambda a, da: a.mean(1), gradient=False)
    assert agrees(found, torch.einsum("bq,bqk->bk", r, canonical))
