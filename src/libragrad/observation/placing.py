"""Placing: the part of the output that an additive constant explains, given to rows and tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from libragrad.geometry.layout import Layout, layout_of
from libragrad.geometry.resample import spread
from libragrad.observation.events import Tally
from libragrad.observation.whereabouts import whereabouts

Reduce = Callable[[Tensor, Tensor], Tally]
"""From b and g to ⟨b, g⟩ by row and token of the explained level."""


class PlacingChanged(Exception):
    """The biases do not enter as they did in the pass that found out where they belong."""


@dataclass
class Placing:
    """How each bias of one forward is placed, in the order in which they enter.

    Found in the first pass over a batch of some shape, then looked up: what is complete does not
    change any more, so that threads may share it.
    """

    level: Layout
    image: tuple[int, int] | None
    rows: int
    complete: bool = False
    lasts: bool = True
    """False where the model itself chooses the places, so that each input has its own."""
    _recipes: list[tuple[tuple[int, ...], Reduce]] = field(default_factory=list)

    def end(self) -> None:
        """End a pass: what was found holds for the next, if it lasts."""
        self.complete = self.lasts

    def reduce(self, number: int, z: Tensor, result: Tensor, layout: Layout) -> Reduce:
        """Return how the bias of this number is placed; `layout` is that of the present block."""
        if not self.complete:
            self._recipes.append((tuple(z.shape), self._recipe(z, result, layout)))
        elif number >= len(self._recipes) or self._recipes[number][0] != tuple(z.shape):
            raise PlacingChanged
        return self._recipes[number][1]

    def onto(self, values: Tensor, layout: Layout) -> Tally:
        """Bring (rows, tokens of a layer) onto the explained level."""
        if (layout.grid, layout.prefix) == (self.level.grid, self.level.prefix):
            return values, values.new_zeros(values.shape[0])
        return spread(values, layout, self.level)

    def _recipe(self, z: Tensor, result: Tensor, layout: Layout) -> Reduce:
        where = whereabouts(result if result.shape == z.shape else z)
        if where is not None and where.shape == z.shape:
            reduce = self._by_codes(where, z, layout)
            if reduce is not None:
                return reduce
        found = layout_of(z.shape, self.image, known=layout, batch=self.rows)
        if found is not None:
            return lambda b, g: self.onto(found.tokens(g * b).sum(-1), found)
        return self._without_place

    def _by_codes(self, where: Tensor, z: Tensor, layout: Layout) -> Reduce | None:
        tokens = layout.count
        agreed = where.stride(-1) == 0 or where.shape[-1] == 1
        codes = (where[..., 0] if agreed else where).reshape(-1)
        if not bool((codes % (tokens + 1)).any()):
            return None if z.shape[0] == self.rows else self._by_row(codes, tokens, agreed)
        straight = torch.arange(self.rows * tokens, device=codes.device)
        straight = straight + straight // tokens + 1
        if agreed and torch.equal(codes, straight):
            return lambda b, g: self.onto(_over_channels(b, g).reshape(self.rows, tokens), layout)

        def reduce(b: Tensor, g: Tensor) -> Tally:
            amounts = _over_channels(b, g) if agreed else g * b
            flat = amounts.new_zeros(self.rows * (tokens + 1))
            flat.index_add_(0, codes, amounts.reshape(-1))
            table = flat.view(self.rows, tokens + 1)
            placed, rest = self.onto(table[:, 1:], layout)
            return placed, rest + table[:, 0]

        return reduce

    def _by_row(self, codes: Tensor, tokens: int, agreed: bool) -> Reduce:
        rows = codes // (tokens + 1)

        def reduce(b: Tensor, g: Tensor) -> Tally:
            amounts = _over_channels(b, g) if agreed else g * b
            rest = amounts.new_zeros(self.rows)
            rest.index_add_(0, rows, amounts.reshape(-1))
            return self._nothing(rest), rest

        return reduce

    def _without_place(self, b: Tensor, g: Tensor) -> Tally:
        """A pooled vector, a head: one number a row."""
        rest = (g * b).reshape(self.rows, -1).sum(1)
        return self._nothing(rest), rest

    def _nothing(self, like: Tensor) -> Tensor:
        return like.new_zeros(self.rows, self.level.count)


def _over_channels(b: Tensor, g: Tensor) -> Tensor:
    """Return Σ_c b_c g_c."""
    if b.dim() == 1 and b.shape[0] == g.shape[-1] and b.dtype == g.dtype:
        return g @ b
    return (g * b).sum(-1)
