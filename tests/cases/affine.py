"""Affine maps: the own gradient; what the constants add is a bias."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.cases.shorthand import MATRIX, aten, by, constant_of, own, plus

C = constant_of(*MATRIX)
ROW = constant_of(4)
TWO = constant_of(2, 4)
ROWS = torch.tensor([2, 0])
PLACES = torch.tensor([[2, 0, 2, 1], [0, 1, 1, 0]])
DIAGONAL = torch.eye(3, 4, dtype=torch.bool)
KEPT = torch.tensor([True, False, True, True]).repeat(3, 1)


def into(x: Tensor, part: Any, b: Tensor | float) -> Tensor:
    """x with a part overwritten, as a model does it."""
    x = x.clone()
    x[part] = b
    return x


def in_place(x: Tensor, name: str, *args: object) -> Tensor:
    x = x.clone()
    getattr(x, name)(*args)
    return x


ADDITIONS = [
    plus("add", torch.add, C),
    plus("add", lambda x, b: x + b, ROW, note="broadcast"),
    plus("add", lambda x, b: b + x, constant_of(2, 3, 4), note="reversed and broadcast"),
    plus("add", lambda x, b: in_place(x, "add_", b), ROW, note="in place"),
    plus("add", lambda x, b: in_place(x, "__iadd__", b), ROW, note="augmented"),
    plus("add", lambda x, b: torch.add(other=b, input=x, alpha=3), C, note="out of order, alpha"),
    plus("add", aten.add.Tensor, C, note="aten"),
    by("add", lambda x: x + 3, lambda x, one: x + 3 * one, note="integer"),
    by("add", lambda x: x + torch.tensor(3), lambda x, one: x + 3 * one, note="integer tensor"),
    by("add", lambda x: 0.5 + x, lambda x, one: x + one / 2, note="scalar"),
    own("add", lambda x: x + x, note="one tensor twice"),
    own("add", lambda x, y: x + y, MATRIX, (1, 4), note="two inputs"),
    plus("sub", lambda x, b: x - b, ROW),
    plus("sub", lambda x, b: b - x, ROW, note="reversed"),
    plus("subtract", torch.subtract, C),
    by("rsub", lambda x: 1 - x, lambda x, one: one - x),
    plus("rsub", torch.rsub, C, note="function"),
]

JOINS = [
    plus("cat", lambda x, b: torch.cat([b, x], dim=0), C),
    plus("cat", lambda x, b: torch.cat(dim=1, tensors=(x, b, x)), C, note="out of order"),
    *[
        plus(name, lambda x, b, name=name: getattr(torch, name)([x, b]), C)
        for name in "concat concatenate stack hstack vstack dstack column_stack".split()
    ],
    plus("block_diag", torch.block_diag, C),
    own("diff", lambda x: x.diff(dim=1)),
    plus("diff", lambda x, b: x.diff(dim=0, prepend=b), C, note="prepended"),
]

CHOICES = [
    plus("where", lambda x, b: torch.where(KEPT, x, b), C),
    plus("where", lambda x, b: x.where(KEPT, b), ROW[0], note="scalar"),
    own("where", lambda x, y: torch.where(x > 0, x, y), MATRIX, MATRIX, note="of the input"),
    plus("masked_fill", lambda x, b: x.masked_fill(KEPT, b), ROW[0]),
    plus("masked_fill", lambda x, b: in_place(x, "masked_fill_", KEPT, b), ROW[0], note="in place"),
    plus("masked_scatter", lambda x, b: x.masked_scatter(KEPT, b), C),
    by("nan_to_num", lambda x: (x + 0).nan_to_num(1.0), lambda x, one: x),
]

WRITES = [
    plus("setitem", lambda x, b: into(x, 1, b), ROW),
    plus("setitem", lambda x, b: into(x, KEPT, b), ROW[0], note="mask"),
    plus("setitem", lambda x, b: into(x, (slice(None), [0, 2]), b), TWO.T[:3, :1], note="columns"),
    own("setitem", lambda x, y: into(x, ROWS, y), MATRIX, (2, 4), note="two inputs"),
    own("setitem", lambda x: into(torch.zeros(3, 4).double(), 1, x), (4,), note="into zeros"),
    plus("index_put", lambda x, b: x.index_put((ROWS,), b), TWO),
    plus("index_put", lambda x, b: in_place(x, "index_put_", (ROWS,), b, True), TWO, note="adding"),
    plus("_index_put_impl", lambda x, b: torch._index_put_impl_(x.clone(), (ROWS,), b), TWO),
    plus("copy", lambda x, b: in_place(x, "copy_", b) + x, ROW),
    own("copy", lambda x, y: in_place(x, "copy_", y), MATRIX, (1, 4), note="two inputs"),
    by("fill", lambda x: torch.fill(x, 2.0) + x, lambda x, one: x + 2 * one),
    plus("fill", lambda x, b: in_place(x, "fill_", b) + x, ROW[0], note="in place"),
    by("zero", lambda x: in_place(x, "zero_") + x, lambda x, one: x),
    by(
        "fill_diagonal",
        lambda x: in_place(x, "fill_diagonal_", 2.0),
        lambda x, one: torch.where(DIAGONAL, 2 * one, x),
    ),
    plus("index_fill", lambda x, b: x.index_fill(0, ROWS, b), ROW[0]),
    plus("index_copy", lambda x, b: x.index_copy(0, ROWS, b), TWO),
    plus("index_add", lambda x, b: x.index_add(dim=0, index=ROWS, source=b, alpha=2), TWO),
    plus("put", lambda x, b: x.put(ROWS, b), ROW[:2]),
    plus("scatter", lambda x, b: x.scatter(0, PLACES, b), TWO),
    plus("scatter_add", lambda x, b: in_place(x, "scatter_add_", 0, PLACES, b), TWO),
    plus("slice_scatter", lambda x, b: x.slice_scatter(b, 0, 1), TWO),
    plus("select_scatter", lambda x, b: x.select_scatter(b, 0, 1), ROW),
    plus("diagonal_scatter", lambda x, b: x.diagonal_scatter(b), ROW[:3]),
]

FRAMES = [
    own("pad", lambda x: F.pad(x, (1, 2))),
    own("pad", lambda x: F.pad(x, (1, 2), mode="reflect"), note="reflected"),
    by(
        "pad",
        lambda x: F.pad(value=3.0, pad=(1, 0), input=x),
        lambda x, one: torch.cat([(3 * one).expand(3, 1), x], 1),
        note="with a value",
    ),
    by(
        "constant_pad_nd",
        lambda x: torch.constant_pad_nd(x, (0, 1), 3.0),
        lambda x, one: torch.cat([x, (3 * one).expand(3, 1)], 1),
    ),
]

CASES = [*ADDITIONS, *JOINS, *CHOICES, *WRITES, *FRAMES]
