"""Masking by −∞: what it means that a token is absent, in the plainest form.

The whole sequence runs through the model. In every attention the scores of the dropped keys are
−∞, and every pooling over tokens leaves the dropped ones out:

    A = softmax(Q Kᵀ + bias + M),   M_j = 0 if token j is kept, −∞ if it is dropped
    mean = Σ_kept h_t / #kept,   sum = Σ_kept h_t,   max = max_kept h_t

It costs a full forward. Dropping tokens must give the same output, to rounding, and this is what a
trial holds it to; it shares no code with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from libragrad.geometry.layout import Layout
from libragrad.masking.operations import Operations

__all__ = ["MinusInfinity"]

_SOFTMAX = frozenset({"softmax", "_safe_softmax", "special_softmax"})
_POOLS = frozenset({"mean", "sum", "amax", "max"})


class MinusInfinity(Operations):
    """A mode under which a forward pass sees the kept tokens alone.

    `kept` is (images, patches), bool, along the grid; prefix tokens are always seen. An axis is one
    of tokens if it is as long as the patches, with the prefix or without; one token more is a class
    token that joined them later, in front.

    >>> kept = torch.tensor([[True, False, True]])
    >>> scores = torch.tensor([[[0.0, 5.0, 0.0]]])
    >>> with MinusInfinity(kept, Layout((1, 3), prefix=0, channel=2)):
    ...     A = scores.softmax(-1)
    ...     h = scores.transpose(1, 2).mean(1)
    >>> A.tolist(), h.tolist()
    ([[[0.5, 0.0, 0.5]]], [[0.0]])
    """

    def __init__(self, kept: Tensor, layout: Layout) -> None:
        super().__init__()
        place = list(layout.order or range(layout.count))
        tokens = torch.ones(len(kept), layout.count, dtype=torch.bool, device=kept.device)
        tokens[:, place[layout.prefix :]] = kept
        patches = tokens[:, sorted(place[layout.prefix :])]
        later = torch.cat([tokens.new_ones(len(kept), 1), tokens], dim=1)
        self._batch = layout.batch
        self._kept = {x.shape[1]: x for x in (later, tokens, patches)}

    def operation(
        self, name: str, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run one operation without the dropped tokens."""
        if name == "scaled_dot_product_attention":
            return self._fused(func, args, kwargs)
        if name in _SOFTMAX:
            return self._softmax(func, args, kwargs)
        if name in _POOLS:
            return self._pool(name, func, args, kwargs)
        return func(*args, **kwargs)

    def _fused(self, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        q, k = given["query"], given["key"]
        kept = self._on_axis((*q.shape[:-1], k.shape[-2]), -1)
        if kept is not None:
            mask = given.get("attn_mask")
            if mask is not None and mask.dtype == torch.bool:
                kept, mask = kept & mask, None
            bias = torch.zeros(kept.shape, dtype=q.dtype, device=q.device)
            bias = bias.masked_fill(~kept, -torch.inf)
            given["attn_mask"] = bias if mask is None else bias + mask
        return func(**given)

    def _softmax(self, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        x, rest, given = _first(args, kwargs)
        axis = given.get("dim", rest[0] if rest else None)
        kept = self._on_axis(x.shape, axis)
        if kept is None:
            return func(*args, **kwargs)
        return func(x.masked_fill(~kept, -torch.inf), *rest, **given)

    def _pool(self, name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        x, rest, given = _first(args, kwargs)
        axis = given.get("dim", rest[0] if rest else None)
        axis = axis[0] if isinstance(axis, (tuple, list)) and len(axis) == 1 else axis
        batch = self._batch if x.ndim == 3 else 0
        other = not isinstance(axis, int) or axis % x.ndim in (batch, x.ndim - 1)
        kept = None if other else self._on_axis(x.shape, axis, batch)
        if kept is None:
            return func(*args, **kwargs)
        if name in ("amax", "max"):
            return func(x.masked_fill(~kept, -torch.inf), *rest, **given)
        x = x.masked_fill(~kept, 0)
        if name == "mean":
            x = x / kept.to(x.dtype).mean(axis, keepdim=True)
        return func(x, *rest, **given)

    def _on_axis(self, shape: tuple[int, ...], axis: Any, batch: int = 0) -> Tensor | None:
        """Return which entries of that axis are kept, to be broadcast, if they are tokens."""
        if not isinstance(axis, int) or shape[axis] not in self._kept or len(shape) < 2:
            return None
        kept = self._kept[shape[axis]]
        if shape[batch] % len(kept):
            return None
        # Heads may share the batch's axis.
        kept = kept.repeat_interleave(shape[batch] // len(kept), 0)
        view = [1] * len(shape)
        view[batch], view[axis] = kept.shape
        return (kept if batch == 0 else kept.T).reshape(view)


def _first(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Tensor, tuple[Any, ...], dict[str, Any]]:
    """Split the tensor that an operation works on from its other arguments."""
    if args:
        return args[0], args[1:], kwargs
    given = dict(kwargs)
    return given.pop("input"), (), given
