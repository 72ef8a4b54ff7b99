"""The residual stream inside a block: h, then h + attention, then that + MLP.

A sum with the stream is the stream again. What a method needs of each step (TokenTM) is how much
longer each token became and how far it turned, so that is all that is kept: O(tokens).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from libragrad.geometry.layout import Layout
from libragrad.rules.call import Call

_STAGE = "_libragrad_stage"
_CARRIED = frozenset({"layer_norm", "rms_norm", "dropout", "contiguous"})
"""A post-norm model normalises the sum before it goes on; what goes on is the stream."""


@dataclass(frozen=True)
class Move:
    """One sum of the stream, from tokens E to tokens Ẽ; all (rows, tokens)."""

    layer: int
    stage: int
    """0: attention was added; 1: the MLP."""
    norm: Tensor
    """‖E‖"""
    grown: Tensor
    """‖Ẽ‖"""
    cosine: Tensor
    """cos(E, Ẽ)"""


@dataclass
class Stream:
    """Follows the stream through the present block."""

    moves: list[Move] = field(default_factory=list)
    _layer: int = 0
    _layout: Layout | None = None

    def enter(self, layer: int, h: Tensor, layout: Layout) -> None:
        """A block begins: h is the stream."""
        self._layer, self._layout = layer, layout
        setattr(h, _STAGE, (layer, 0))

    def follow(self, call: Call, result: Any) -> None:
        """Carry the mark through an operation, and note a move where something is added."""
        if self._layout is None or not isinstance(result, Tensor):
            return
        marked = [x for x in call.live if getattr(x, _STAGE, (-1, 0))[0] == self._layer]
        if not marked:
            return
        layer, stage = getattr(marked[0], _STAGE)
        if call.name in _CARRIED:
            setattr(result, _STAGE, (layer, stage))
        elif call.name == "add" and len(call.live) == 2 and result.shape == marked[0].shape:
            setattr(result, _STAGE, (layer, stage + 1))
            self.moves.append(self._move(call, marked[0], stage, result))

    def _move(self, call: Call, before: Tensor, stage: int, after: Tensor) -> Move:
        assert self._layout is not None
        if call.in_place:  # x += b has overwritten x
            (b,) = [x for x in call.live if x is not before] or [before]
            before = after.detach() - b.detach()
        e, f = (self._layout.tokens(x.detach()) for x in (before, after))
        return Move(
            self._layer, stage, e.norm(dim=-1), f.norm(dim=-1), F.cosine_similarity(e, f, dim=-1)
        )
