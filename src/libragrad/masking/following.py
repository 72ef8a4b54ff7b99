"""Constants follow the tokens that stay: rotary tables, relative biases, late position embeddings.

A shortened sequence meets constants that were made for the whole one. Where a rotary table
(patches, d) multiplies the queries, or a bias (heads, N, N) is added to the scores, the entries of
the kept tokens are needed, on every axis that stands for tokens:

    table[kept_b]        bias[:, kept_b, :][:, :, kept_b]        for each image b

Where this happens is found once, by running a shortened sequence and looking where an axis as long
as the whole one meets a shortened one: there, and only there, PyTorch would fail. What was found
is a plan, by the position of the operation in the run, so that later runs ask nothing, and a
sequence of one token, which broadcasts against anything, is safe too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor

from libragrad.errors import LibraGradError
from libragrad.geometry.layout import Layout
from libragrad.masking.operations import Operations
from libragrad.rules.call import tensors_in

__all__ = ["Follow", "Kept", "Plan", "Seek"]

_ELEMENTWISE = frozenset(
    """
    add sub subtract rsub mul multiply rmul div divide true_divide rdiv where masked_fill maximum
    minimum addcmul addcdiv lerp pow atan2 logical_and logical_or bitwise_and bitwise_or
    """.split()
)
_FUSED = "scaled_dot_product_attention"
_SIZES = frozenset({"shape", "size"})
_SHORTENED = "_libragrad_shortened"

Shape: TypeAlias = tuple[int, ...]


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


class Change(NamedTuple):
    """What one operation of the run needs: entries of one argument, or another answer to a size."""

    name: str
    argument: int | str
    axes: tuple[tuple[int, bool], ...]
    """Axes of tokens, and whether each has the prefix."""
    ndim: int
    """Dimensions of the result, the first of which is the batch; 0 for an answer to a size."""


@dataclass
class Plan:
    """The changes that a model's run needs, by the position of the operation after h₀."""

    changes: dict[int, list[Change]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.changes)


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
            place[change.argument] = gathered(place[change.argument], change, self.kept)
        return func(*args, **kwargs)

    def changes(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> list[Change] | None:
        """Return what this operation needs."""
        return self.plan.changes.get(self._position)

    def _size(self, change: Change, func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        answer = func(*args, **kwargs)
        if isinstance(answer, int):
            return self.kept.on(change.axes[0][1]).shape[1]
        sizes = list(answer)
        for axis, prefixed in change.axes:
            sizes[axis] = self.kept.on(prefixed).shape[1]
        return torch.Size(sizes)


class Seek(Follow):
    """A mode that makes the plan while it carries it out.

    With `sizes`, a constant that is asked for its size answers with the shortened length: some
    models compute how many prefix tokens they have from the size of their rotary table.
    """

    def __init__(self, kept: Kept, sizes: bool = False) -> None:
        super().__init__(Plan(), kept)
        self.sizes = sizes

    def begin(self, h: Tensor) -> None:
        """Remember that h is shortened."""
        super().begin(h)
        setattr(h, _SHORTENED, True)

    def changes(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> list[Change] | None:
        """Find what this operation needs, and remember it."""
        if name in _SIZES:
            found = list(self._sizes(name, args)) if self.sizes else []
        else:
            found = list(self._clashes(name, _shapes(name, args, kwargs)))
        if found:
            self.plan.changes[self._position] = found
        return found

    def _clashes(self, name: str, shapes: dict[int | str, Shape]) -> Iterator[Change]:
        """Yield the arguments with an axis of tokens where another has a shortened one."""
        ndim = max((len(shape) for shape in shapes.values()), default=0)
        aligned = {key: (1,) * (ndim - len(shape)) + shape for key, shape in shapes.items()}
        sizes = [set(column) - {1} for column in zip(*aligned.values(), strict=True)]
        if not sizes or len(self.kept.tokens) not in sizes[0] or len(sizes[0]) > 1:
            return
        for key, shape in aligned.items():
            axes = tuple(
                (axis, prefixed)
                for axis in range(1, ndim)
                for (whole, short), prefixed in self.kept.lengths().items()
                if shape[axis] == whole and sizes[axis] == {whole, short}
            )
            if axes:
                yield Change(name, key, axes, ndim)

    def _sizes(self, name: str, args: tuple[Any, ...]) -> Iterator[Change]:
        """Yield the question for a computed constant's size, if it has axes of tokens."""
        x = args[0]
        if isinstance(x, torch.nn.Parameter) or getattr(x, _SHORTENED, False):
            return
        asked = [args[1] % x.ndim] if len(args) > 1 and isinstance(args[1], int) else range(x.ndim)
        lengths = {whole: prefixed for (whole, _), prefixed in self.kept.lengths().items()}
        axes = tuple((axis, lengths[x.shape[axis]]) for axis in asked if x.shape[axis] in lengths)
        if axes:
            yield Change(name, 0, axes, 0)

    def operation(
        self, name: str, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run one operation, and remember which tensors come from the shortened sequence."""
        value = super().operation(name, func, args, kwargs)
        if any(getattr(x, _SHORTENED, False) for x in tensors_in([args, kwargs])):
            for x in tensors_in(value):
                setattr(x, _SHORTENED, True)
        return value


def gathered(x: Tensor, change: Change, kept: Kept) -> Tensor:
    """Return x with each image's own entries on the axes of tokens: (images, …)."""
    ndim = change.ndim
    x = x[(None,) * (ndim - x.ndim)].expand(len(kept.tokens), *[-1] * (ndim - 1))
    for axis, prefixed in change.axes:
        index = kept.on(prefixed)
        view = [1] * ndim
        view[0], view[axis] = index.shape
        x = x.take_along_dim(index.view(view), dim=axis)
    return x


def _shapes(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int | str, Shape]:
    """Return the shapes that are broadcast against each other, by argument."""
    given: dict[int | str, Any] = dict(enumerate(args))
    given.update(kwargs)
    if name in _ELEMENTWISE:
        return {key: tuple(x.shape) for key, x in given.items() if isinstance(x, Tensor)}
    if name != _FUSED:
        return {}
    q, k = (given[key] if key in given else given[i] for i, key in enumerate(("query", "key")))
    shapes: dict[int | str, Shape] = {"scores": (*q.shape[:-1], k.shape[-2])}
    for key in (3, "attn_mask"):
        if isinstance(given.get(key), Tensor):
            shapes[key] = tuple(given[key].shape)
    return shapes
