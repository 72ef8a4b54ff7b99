"""Discovery: blocks, h₀, grid, prefix and head of a model, from runs on one example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from torch import Tensor, nn

from libragrad.engine.inputs import Inputs, original, prepare
from libragrad.errors import GeometryError
from libragrad.geometry.blocks import Stretch, found_blocks, named, named_blocks
from libragrad.geometry.example import first_example, recorded
from libragrad.geometry.geometry import Block, Geometry, Point, Readout
from libragrad.geometry.layout import Layout, layout_beside, layout_of
from libragrad.geometry.measure import measured
from libragrad.geometry.probe import Probe
from libragrad.geometry.quiet import quiet
from libragrad.geometry.readout import Head, causal
from libragrad.geometry.record import Shape
from libragrad.geometry.trunk import Trunk, trunk_of

_NORMALISATIONS = frozenset("layer_norm rms_norm group_norm".split())


class Named(NamedTuple):
    """What the caller named and is not to be discovered."""

    blocks: str | Sequence[str] | None
    start: str | Point | None
    prefix: int | None
    grid: tuple[int, int] | None
    cls: int | None


def discover(
    model: nn.Module,
    inputs: Tensor | Sequence[Any] | Mapping[str, Any],
    *,
    blocks: str | Sequence[str] | None = None,
    start: str | Point | None = None,
    prefix: int | None = None,
    grid: tuple[int, int] | None = None,
    cls: int | None = None,
) -> Geometry:
    """Find out where a model's blocks and tokens are, by running it on the first example.

    Whatever is given is taken as it is: `blocks` is the path of the module that holds them, or a
    list of their paths; `start` is the module on which h₀ enters, `prefix` the number of tokens
    before the patches, `grid` the rows and columns of patches, `cls` the token whose row a rollout
    reads.

    >>> from libragrad.models.mosaic.vit import MosaicViT
    >>> import torch
    >>> print(discover(MosaicViT(depth=3), torch.zeros(1, 3, 64, 64)))
    input      64 × 64 pixels
    h₀         blocks.0             1 + 16 × 16 (channels on axis 2)
    block 0…2  blocks.0 … blocks.2  1 + 16 × 16 (channels on axis 2)
    head       reads cls            CLS: 0
    """
    model = original(model)
    with quiet(model):
        given = prepare(first_example(inputs))
        return _Discovery(model, given, Named(blocks, start, prefix, grid, cls)).geometry()


class _Discovery:
    def __init__(self, model: nn.Module, inputs: Inputs, named: Named) -> None:
        self.model = model
        self.inputs = inputs
        self.named = named
        self.source, self.record = recorded(model, inputs)
        picture = self.source.ndim == 4 and self.source.dtype.is_floating_point
        self.image = (self.source.shape[2], self.source.shape[3]) if picture else None
        self.trunk: Trunk = trunk_of(self.record)

    def geometry(self) -> Geometry:
        stretches = self._stretches()
        start, shape, node = self._start(stretches[0])
        layout = self._start_layout(start, shape)
        stretches, blocks = self._blocks(stretches, layout)
        if self.named.start is None and stretches[0].source != node:
            kept = self._start(stretches[0])
            if kept[0] != start:  # layers without the prefix went before
                start, shape, node = kept
                layout = self._start_layout(start, shape)
        last = stretches[-1]
        head = Head(self.model, self.inputs, self.source, self.record, last.result, self.image)
        reads, token = head.readout(blocks[-1].layout)
        each = reads is Readout.OTHER and self.image is None
        if each and causal(self.model, self.inputs, self.source, layout.count):
            reads, token = Readout.LAST_TOKEN, -1
        captured = {node, *(stretch.source for stretch in stretches)}
        return Geometry(
            start,
            layout,
            blocks,
            self.image,
            self._cls(token, layout, blocks),
            reads,
            in_place=bool(captured & self.record.overwritten),
        )

    def _stretches(self) -> list[Stretch]:
        if self.named.blocks is not None:
            return named_blocks(self.record, self.model, self.named.blocks)
        found = found_blocks(self.record, self.trunk)
        if self.image is not None:  # what works on pixels is a stem
            found = [block for block in found if block.shape != tuple(self.source.shape)]
        if not self.trunk.steps:
            found = [layer for layer in found if layout_of(layer.shape, self.image, batch=1)]
        if not found:
            raise GeometryError(
                f"no blocks were found in {type(self.model).__name__}: neither a chain of modules "
                "whose output is their input plus something, nor layers with weights that hand on "
                f"a map ({len(self.record.calls)} module calls, {len(self.trunk.nodes)} tensors "
                "that everything passes through). Name them: blocks='path.of.the.list' or a list "
                "of module paths."
            )
        return found

    def _start(self, first: Stretch) -> tuple[Point, Shape, int]:
        """Find h₀: what enters the first block, or the normalisation right before it."""
        if self.named.start is not None:
            return self._named_start(self.named.start)
        maker = next((op for op in self.record.operations if op.node == first.source), None)
        if maker is not None and maker.name in _NORMALISATIONS:
            for call in self.record.calls:
                before = call.source is not None and self.record.parents[first.source] == (
                    call.source,
                )
                if before and call.result == first.source and call.source is not None:
                    return call.point, call.shape, call.source
        return first.point, first.shape, first.source

    def _named_start(self, start: str | Point) -> tuple[Point, Shape, int]:
        point = start if isinstance(start, Point) else Point(start)
        named(self.model, [point.module], "start")
        for call in self.record.calls:
            if call.point == point and call.source is not None:
                return point, call.shape, call.source
        raise GeometryError(
            f"start= names {point}, which was not called on a tensor that depends on the input; "
            "name a module whose first argument is h₀"
        )

    def _start_layout(self, start: Point, shape: Shape) -> Layout:
        """Say how h₀ lies: as named, as the text, or as measured."""
        if self.named.grid is not None:
            return self._named_layout(start, shape, self.named.grid)
        layout = None
        if not self.source.dtype.is_floating_point:
            layout = _text_layout(shape, self.source.shape[-1])
        elif len(shape) in (3, 4):
            layout = self._plain_map(shape) or self._measured(start, shape, self.named.prefix)
        if layout is None:
            layout = self._later(start, shape)
        if layout is None:
            over = "the text" if self.image is None else "an image of {} × {} pixels"
            raise GeometryError(
                f"what enters {start} has the shape {shape}, and its tokens could not be found "
                f"over {over.format(*self.image or ())}. Name them: grid=(rows, columns) and "
                "prefix=, or another start=."
            )
        return layout

    def _named_layout(self, start: Point, shape: Shape, grid: tuple[int, int]) -> Layout:
        channel = len(shape) - 1
        if len(shape) == 4 and tuple(shape[2:]) == tuple(grid):
            channel = 1
        positions = prod(n for axis, n in enumerate(shape) if axis != channel)
        prefix = positions - prod(grid)
        if prefix < 0 or self.named.prefix not in (None, prefix):
            raise GeometryError(
                f"what enters {start} has {positions} tokens, which are not {grid[0]} × {grid[1]} "
                f"and prefix={self.named.prefix or 0} more"
            )
        return Layout((grid[0], grid[1]), prefix, channel)

    def _later(self, start: Point, shape: Shape) -> Layout | None:
        """A start that the caller named lies as the one before it that would have been found."""
        if self.named.start is None and self.named.blocks is None:
            return None
        before = _Discovery(
            self.model, self.inputs, Named(None, None, self.named.prefix, None, None)
        )
        found = before._start(before._stretches()[0])
        known = None if found[0] == start else before._start_layout(*found[:2])
        return None if known is None else layout_beside(shape, self.image, known)

    def _measured(self, point: Point, shape: Shape, prefix: int | None = None) -> Layout | None:
        """Look where the tokens look."""
        probe = Probe(self.model, self.inputs, self.source, point)
        return measured(probe, shape, self.image, prefix)

    def _traced(self, stretch: Stretch) -> Layout | None:
        """Look where the tokens look in the map of as many places that was last before them."""
        for call in reversed(self.record.calls):
            if call.result not in self.trunk.nodes or call.result > stretch.source:
                continue
            lies = layout_of(call.made, self.image, batch=1)
            if lies is None or len(call.made) != 4 or lies.channel != 1:
                continue
            if prod(stretch.shape) in {lies.count * n for n in stretch.shape}:
                probe = Probe.behind(self.model, self.inputs, call.point, stretch.point)
                return measured(probe, stretch.shape, lies.grid)
        return None

    def _plain_map(self, shape: Shape) -> Layout | None:
        """Return the layout of a map that can be read in one way only."""
        if len(shape) != 4 or self.image is None:
            return None
        options = [
            layout_of(shape, self.image, Layout((0, 0), 0, axis), batch=1) for axis in (1, 3)
        ]
        return options[0] if options[0] == options[1] else None

    def _blocks(
        self, stretches: list[Stretch], start: Layout
    ) -> tuple[list[Stretch], tuple[Block, ...]]:
        """Say how each block's input lies; leave out those that precede the prefix tokens."""
        blocks: list[Block] = []
        known, shape = start, None
        for stretch in stretches:
            layout = known if stretch.shape == shape else None
            layout = layout or layout_beside(stretch.shape, self.image, known)
            if layout is None and self.image is not None and len(stretch.shape) in (3, 4):
                layout = self._measured(stretch.point, stretch.shape) or self._traced(stretch)
            if layout is None:
                raise GeometryError(
                    f"what enters {stretch.point} has the shape {stretch.shape}, which has no "
                    f"place over {known}: tokens were dropped, merged or moved into windows. "
                    "Name the blocks before: blocks=[…]."
                )
            known, shape = layout, stretch.shape
            blocks.append(Block(stretch.point, layout))
        first = next((i for i, block in enumerate(blocks) if block.layout.prefix), 0)
        if (
            self.named.blocks is None
            and first
            and self._weight(stretches[:first]) < self._weight(stretches[first:])
        ):
            stretches, blocks = stretches[first:], blocks[first:]
        return stretches, tuple(blocks)

    def _weight(self, stretches: list[Stretch]) -> int:
        """How many parameters the blocks have."""
        calls = [stretch.call for stretch in stretches if stretch.call is not None]
        return sum(p.numel() for call in calls for p in call.module.parameters())

    def _cls(self, token: int | None, start: Layout, blocks: tuple[Block, ...]) -> int | None:
        """Return the token that the head reads, or else the one that was put there alone."""
        if self.named.cls is not None:
            count = (blocks[-1].layout if blocks else start).count
            if not -count <= self.named.cls < count:
                raise GeometryError(
                    f"cls={self.named.cls} is none of the {count} tokens of the last block"
                )
            return self.named.cls
        if token is not None:
            return token
        prefix = max(block.layout.prefix for block in blocks)
        joined = any(
            operation.name in {"cat", "concat", "concatenate"}
            and any(
                x.node is None and len(x.shape) == 3 and 1 in x.shape[1:2]
                for x in operation.operands
            )
            for operation in self.record.operations
        )
        return 0 if prefix and start.prefix and joined else None


def _text_layout(shape: Shape, length: int) -> Layout | None:
    """(1, N, C) or (N, 1, C) for N integer tokens."""
    for batch in (0, 1):
        if len(shape) == 3 and shape[batch] == 1 and shape[1 - batch] == length:
            return Layout((1, length), 0, 2, batch)
    return None
