"""Which modules are the blocks: the innermost that take whole residual steps, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import groupby

from torch import nn

from libragrad.errors import GeometryError
from libragrad.geometry.geometry import Point
from libragrad.geometry.record import Call, Record, Shape
from libragrad.geometry.trunk import Step, Trunk

_ATTENDING = frozenset({"matmul", "bmm", "scaled_dot_product_attention"})


@dataclass(frozen=True)
class Stretch:
    """A part of the run that counts as one block."""

    point: Point
    """Where its input is to be found."""
    shape: Shape
    source: int
    result: int
    call: Call | None
    """The module call that it is, or None where a model's own forward does the work of one."""


def found_blocks(record: Record, trunk: Trunk) -> list[Stretch]:
    """Find the residual blocks; where there are none, the layers that follow one another."""
    end = _queried(record)
    trunk = replace(trunk, steps=tuple(step for step in trunk.steps if step.end < end))
    if not trunk.steps:
        return _layers(record, trunk)
    search = _Search(record, trunk)
    blocks = search.split(-1, list(trunk.steps))
    blocks += _siblings(record, trunk, blocks, end)
    return sorted(blocks, key=lambda block: block.source)


def named_blocks(record: Record, model: nn.Module, names: str | Sequence[str]) -> list[Stretch]:
    """Return the blocks that the caller named: a container's children, or one by one."""
    modules = dict(model.named_modules())
    paths = [names] if isinstance(names, str) else list(names)
    named(model, paths, "blocks")
    if isinstance(names, str):
        inner = [
            f"{names}.{child}" if names else child for child, _ in modules[names].named_children()
        ]
        ran = {call.point.module for call in record.calls}
        paths = [path for path in inner if path in ran] or paths
    calls = [call for call in record.calls if call.point.module in paths]
    silent = set(paths) - {call.point.module for call in calls if call.source is not None}
    if silent or not paths:
        raise GeometryError(
            f"blocks= names {', '.join(sorted(silent)) or 'nothing'}, which did not run on a "
            "tensor that depends on the input"
        )
    return [_stretch(call) for call in calls if call.source is not None]


def named(model: nn.Module, paths: Iterable[str], argument: str) -> None:
    """Refuse paths that the model does not have, and name those nearby."""
    modules = dict(model.named_modules())
    for path in paths:
        if path not in modules:
            near = get_close_matches(path, modules, n=3) or list(modules)[1:4]
            raise GeometryError(
                f"the model has no module {path!r}, named in {argument}=; near it: "
                f"{', '.join(near)}"
            )


class _Search:
    def __init__(self, record: Record, trunk: Trunk) -> None:
        self.record = record
        self.trunk = trunk
        self.covers = {i: trunk.inside(call) for i, call in enumerate(record.calls)}

    def split(self, parent: int, steps: list[Step]) -> list[Stretch]:
        """Divide the steps of a call among the calls in it; what it does itself, it is."""
        children = self._children(parent)
        own = [s for s in steps if not any(s in self.covers[child] for child in children)]
        total = len(self.trunk.steps)
        if own and parent >= 0 and not (total >= 4 and 2 * len(steps) > total):
            return [_stretch(self.record.calls[parent])]
        inner = [block for child in children for block in self.split(child, self.covers[child])]
        return inner + self._written_out(own, parent)

    def _children(self, parent: int) -> list[int]:
        """The outermost calls inside a call that take steps."""
        return [
            i
            for i, call in enumerate(self.record.calls)
            if self.covers[i] and self._around(call.parent) == parent
        ]

    def _around(self, index: int) -> int:
        while index >= 0 and not self.covers[index]:
            index = self.record.calls[index].parent
        return index

    def _written_out(self, steps: list[Step], parent: int) -> list[Stretch]:
        """Steps of a loop over modules, x = x + f(norm(x)): one block for each of its rounds."""
        places = [self._place(step, parent) for step in steps]
        depth = len(common(places))
        rounds = groupby(
            zip(places, steps, strict=True),
            key=lambda item: item[0][depth : depth + 1] or item[1],
        )
        blocks = []
        for _, group in rounds:
            taken = [step for _, step in group]
            start, end = taken[0].start, taken[-1].end
            feeds = (c for c in self.record.calls if c.source == start and c.result != start)
            feed = next(feeds, None)
            if feed is not None:
                blocks.append(Stretch(feed.point, feed.shape, start, end, call=None))
        return blocks

    def _place(self, step: Step, parent: int) -> list[str]:
        """The path that all modules of a step share, beside the one that is written out."""
        return common(
            self.record.calls[operation.call].point.module.split(".")
            for operation in self.record.operations
            if step.first <= operation.node <= step.end and operation.call not in (-1, parent)
        )


def _queried(record: Record) -> int:
    """Where constant queries first attend to the tokens: what follows are no longer these tokens.

    So it is in a decoder that attends to an encoder, and in one that looks for objects.
    """
    for operation in record.operations:
        if operation.name in _ATTENDING and len(operation.operands) > 1:
            queries, keys = operation.operands[:2]
            if queries.node is None and keys.node is not None and len(queries.shape) > 2:
                return operation.node
    return len(record.parents)


def _siblings(record: Record, trunk: Trunk, blocks: list[Stretch], end: int) -> list[Stretch]:
    """Blocks of the same kinds without a skip: inverted residuals with a stride."""
    kinds = {type(block.call.module) for block in blocks if block.call is not None}
    kinds -= {nn.Sequential}
    taken = [(block.source, block.result) for block in blocks]
    return [
        _stretch(call)
        for call in record.calls
        if type(call.module) in kinds
        and trunk.carries(call)
        and call.result < end  # type: ignore[operator]
        and all(call.result <= start or end <= call.source for start, end in taken)  # type: ignore[operator]
    ]


def _layers(record: Record, trunk: Trunk) -> list[Stretch]:
    """The innermost modules with weights that follow one another, without the one on the input."""
    outer: set[int] = set()
    layers = []
    for i, call in reversed(list(enumerate(record.calls))):
        if i in outer or not trunk.carries(call):
            continue
        if any(p.ndim > 1 for p in call.module.parameters()):
            layers.append(call)
            around = call.parent
            while around >= 0:
                outer.add(around)
                around = record.calls[around].parent
    first = record.calls[0].source if record.calls else None
    return [_stretch(call) for call in reversed(layers) if call.source != first]


def _stretch(call: Call) -> Stretch:
    source = -1 if call.source is None else call.source
    result = source if call.result is None else call.result
    return Stretch(call.point, call.shape, source, result, call)


def common(paths: Iterable[list[str]]) -> list[str]:
    """Return the longest path that all begin with.

    >>> common([["a", "0", "norm"], ["a", "0", "mlp", "fc"]])
    ['a', '0']
    """
    shared = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return shared
