"""Which tokens stay, in the model's own order."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from libragrad.geometry.layout import Layout

__all__ = ["Kept"]


class Kept(NamedTuple):
    """Which tokens of each image make the shortened sequence, in the model's own order."""

    tokens: Tensor
    """(images, K): places among all N tokens, the prefix among them; ascending."""
    patches: Tensor
    """(images, k): places among the patches alone; ascending."""
    layout: Layout

    @classmethod
    def of(cls, patches: Tensor, layout: Layout) -> Kept:
        """Translate patches (images, k), numbered along the grid, to the model's own order.

        >>> last = Layout((1, 2), prefix=1, channel=2, order=(2, 0, 1))  # CLS stands at the end
        >>> Kept.of(torch.tensor([[1]]), last)[:2]
        (tensor([[1, 2]]), tensor([[1]]))
        """
        own = torch.tensor(layout.order or range(layout.count), device=patches.device)
        prefix, grid = own[: layout.prefix], own[layout.prefix :]
        among_patches = grid.argsort().argsort()
        tokens = torch.cat([prefix.expand(len(patches), -1), grid[patches]], dim=1)
        return cls(tokens.sort(1).values, among_patches[patches].sort(1).values, layout)

    def on(self, prefixed: bool) -> Tensor:
        """Places on an axis of all tokens, or on one of patches."""
        return self.tokens if prefixed else self.patches

    def lengths(self) -> dict[tuple[int, int], bool]:
        """Each (whole, shortened) length of an axis of tokens, and whether it has the prefix."""
        count, prefix = self.layout.count, self.layout.prefix
        return {
            (count - prefix, self.patches.shape[1]): False,
            (count, self.tokens.shape[1]): True,
        }
