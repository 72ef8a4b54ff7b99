"""Linear maps that read some entries: indexing, splitting, embedding."""

from __future__ import annotations

import torch

from tests.cases.shorthand import CUBE, aten, methods, own

ROWS = torch.tensor([2, 0, 2])
PLACES = torch.tensor([[2, 0, 2, 1], [0, 1, 2, 0]])
KEPT = torch.tensor([True, False, True, True]).repeat(3, 1)

CASES = [
    own("getitem", lambda x: x[1]),
    own("getitem", lambda x: x[..., 1::2, None], note="slices"),
    own("getitem", lambda x: x[ROWS, [1, 1, 3]], note="indices"),
    own("getitem", lambda x: x[KEPT], note="mask"),
    *methods("select", 0, 1),
    own("select", lambda x: aten.select.int(x, 0, 1), note="aten"),
    *methods("index_select", 0, ROWS),
    own("index_select", lambda x: torch.index_select(x, index=ROWS, dim=0), note="keywords"),
    *methods("narrow", 1, 1, 2),
    *methods("gather", 0, PLACES),
    *methods("take_along_dim", PLACES, 0),
    own("take", lambda x: x.take(ROWS)),
    own("masked_select", lambda x: x.masked_select(KEPT)),
    own("index", lambda x: aten.index.Tensor(x, [ROWS])),
    *methods("unbind"),
    *methods("split", 2, 1),
    own("split", lambda x: x.split([1, 3], dim=1), note="sizes"),
    own("split", lambda x: torch.functional.split(x, 2), note="function"),
    *methods("split_with_sizes", [1, 3], 1),
    own("unsafe_split", lambda x: torch.unsafe_split(x, 2, 1)),
    *methods("chunk unsafe_chunk", 2, 1),
    own("chunk", lambda x: torch.chunk(dim=-1, chunks=2, input=x), note="out of order"),
    *methods("tensor_split", 3, 1),
    *methods("hsplit", 2),
    *methods("vsplit", 3),
    *methods("dsplit", 2, shape=CUBE),
    own("combinations", lambda x: torch.combinations(x, 2), (4,)),
]
