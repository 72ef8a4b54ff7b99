"""Where a bias belongs is found once for a shape, unless the model chooses it for each input."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from libragrad import Explainer
from tests.methods.tiny import agrees, built, pictures
from tests.reference.tiny_vit import WIDTH, TinyViT


class Sorting(nn.Module):
    """Sorts the tokens by what they hold, changes the first five, and puts them back."""

    def __init__(self, inner: nn.Module, by: str) -> None:
        super().__init__()
        self.inner, self.by = inner, by
        self.change = nn.Linear(WIDTH, WIDTH)

    def forward(self, h: Tensor) -> Tensor:
        h = self.inner(h)
        order = h[..., 0].argsort(1)
        if self.by == "gather":
            index = order[..., None].expand_as(h)
            first = h.gather(1, index)[:, :5]
            return h.scatter_add(1, index[:, :5], self.change(first))
        rows = torch.arange(len(h))[:, None]
        if self.by == "count":  # another number of tokens for each input
            kept = int((h[..., 0] > 0).sum(1).amin())
            first = self.change(h[rows, order[:, -kept:]])
            return h.index_put((rows, order[:, -kept:]), first, accumulate=True)
        return h.index_put(
            (rows, order[:, :5]), self.change(h[rows, order[:, :5]]), accumulate=True
        )


@pytest.mark.parametrize("by", ["gather", "index", "count"])
def test_an_explainer_used_before_gives_what_a_new_one_gives(by: str) -> None:
    model = TinyViT()
    model.blocks[1] = Sorting(model.blocks[1], by)
    network = built(model)
    used = Explainer(network)
    for seed in range(3):
        x = pictures(2, 24, 32, seed=seed)
        again = used.explain(x, 1, method="fullgrad")
        assert agrees(again.map.flatten(1).sum(1) + again.unattributed, again.output)
        assert agrees(again.tokens, Explainer(network).explain(x, 1, method="fullgrad").tokens)
        for i in range(2):
            alone = Explainer(network).explain(x[i : i + 1], 1, method="fullgrad")
            if by != "count":
                assert agrees(again.tokens[i : i + 1], alone.tokens)
