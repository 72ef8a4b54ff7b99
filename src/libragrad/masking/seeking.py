"""Where constants must follow the tokens: found by running a shortened sequence once.

Where an axis as long as the whole sequence meets a shortened one, PyTorch would fail, and there
alone: that is where a constant made for the whole sequence comes in. What is found is a plan by the
position of the operation in the run, so that later runs ask nothing, and a sequence of one token,
which broadcasts against anything, is safe too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from torch import Tensor, nn

from libragrad.masking.following import Change, Follow
from libragrad.masking.kept import Kept
from libragrad.rules.call import tensors_in

__all__ = ["Seek"]

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


class Seek(Follow):
    """A mode that makes the plan while it carries it out.

    With `sizes`, a constant that is asked for its size answers with the shortened length: some
    models compute how many prefix tokens they have from the size of their rotary table.
    """

    def __init__(self, kept: Kept, sizes: bool = False) -> None:
        super().__init__({}, kept)
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
            self.plan[self._position] = found
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
        if isinstance(x, nn.Parameter) or getattr(x, _SHORTENED, False):
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
