"""Constants follow the tokens that stay: rotary tables, relative biases, late position embeddings.

A shortened sequence meets constants that were made for the whole one. Where a rotary table
(patches, d) multiplies the queries, or a bias (heads, N, N) is added to the scores, the entries of
the kept tokens are needed, on every axis that stands for tokens:

    table[kept_b]        bias[:, kept_b, :][:, :, kept_b]        for each image b

A plan says where in a run this happens. It was found by a trial (`seeking`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor

from libragrad.errors import LibraGradError
from libragrad.masking.kept import Kept
from libragrad.masking.operations import Operations

__all__ = ["Change", "Follow", "Plan"]


class Change(NamedTuple):
    """What one operation of the run needs: entries of one argument, or another answer to a size."""

    name: str
    argument: int | str
    axes: tuple[tuple[int, bool], ...]
    """Axes of tokens, and whether each has the prefix."""
    ndim: int
    """Dimensions of the result, the first of which is the batch; 0 for an answer to a size."""


Plan: TypeAlias = dict[int, list[Change]]
"""The changes that a model's run needs, by the position of the operation after h₀."""


class Follow(Operations):
    """A mode that carries out a plan for one choice of tokens, from `begin()` on."""

    def __init__(self, plan: Plan, kept: Kept) -> None:
        super().__init__()
        self.plan = plan
        self.kept = kept
        self._position = -1

    def begin(self, h: Tensor) -> None:
        """The model has reached h₀ and goes on with the shortened h."""
        self._position = 0

    def operation(
        self, name: str, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run one operation, with what the plan has for it."""
        if self._position < 0:
            return func(*args, **kwargs)
        changes = self.changes(name, args, kwargs)
        self._position += 1
        if not changes:
            return func(*args, **kwargs)
        if changes[0].name != name:
            raise LibraGradError(
                f"the model ran {name} where its trial ran {changes[0].name}: it does not run the "
                'same operations on every input; mask with "zero"'
            )
        if changes[0].ndim == 0:
            return self._size(changes[0], func, args, kwargs)
        args, kwargs = list(args), dict(kwargs)  # type: ignore[assignment]
        for change in changes:
            place: Any = args if isinstance(change.argument, int) else kwargs
            place[change.argument] = _gathered(place[change.argument], change, self.kept)
        return func(*args, **kwargs)

    def changes(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> list[Change] | None:
        """Return what this operation needs."""
        return self.plan.get(self._position)

    def _size(self, change: Change, func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        answer = func(*args, **kwargs)
        if isinstance(answer, int):
            return self.kept.on(change.axes[0][1]).shape[1]
        sizes = list(answer)
        for axis, prefixed in change.axes:
            sizes[axis] = self.kept.on(prefixed).shape[1]
        return torch.Size(sizes)


def _gathered(x: Tensor, change: Change, kept: Kept) -> Tensor:
    """Return x with each image's own entries on the axes of tokens: (images, …)."""
    axes, ndim = list(change.axes), change.ndim
    x = x[(None,) * (ndim - x.ndim)]
    if len(x) == 1:  # the images share it: whole rows are copied, which is much the fastest
        (axis, prefixed), *axes = axes
        index = kept.on(prefixed)
        x = x[0].index_select(axis - 1, index.flatten())
        x = x.unflatten(axis - 1, index.shape).movedim(axis - 1, 0)
    for axis, prefixed in axes:
        index = kept.on(prefixed)
        view = [1] * ndim
        view[0], view[axis] = index.shape
        x = x.take_along_dim(index.view(view), dim=axis)
    return x
