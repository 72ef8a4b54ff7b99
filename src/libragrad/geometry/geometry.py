"""What was found out about a model: its blocks, its tokens, and how its head reads them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from libragrad.geometry.layout import Layout


class Readout(Enum):
    """How the head reads the tokens of the last block."""

    CLS = auto()
    """One prefix token (or the mean of such, as CLS and distillation)."""
    MEAN = auto()
    """The mean of all tokens, or of all patches."""
    ATTENTION_POOL = auto()
    """A query attends to the tokens: an attention pool, or class attention."""
    LAST_TOKEN = auto()
    """The last token of a causal language model."""
    OTHER = auto()
    """Something else: every token on its own, a flattened map, CLS beside the mean, …"""


@dataclass(frozen=True)
class Point:
    """A tensor on the way: the first tensor argument of the module at a path.

    >>> str(Point("blocks.3")), str(Point("layer", call=2))
    ('blocks.3', 'layer (call 2)')
    """

    module: str
    """The module's path in the model."""
    call: int = 0
    """Which of its calls in one forward, where it is called more than once."""

    def __str__(self) -> str:
        """Return the path, and the call unless it is the first."""
        return f"{self.module} (call {self.call})" if self.call else self.module


@dataclass(frozen=True)
class Block:
    """A residual block: its input and how that lies over the image."""

    point: Point
    layout: Layout


@dataclass(frozen=True)
class Geometry:
    """Where a model's blocks and tokens are. It prints as a table."""

    start: Point
    """h₀: after patch, prefix and absolute position embedding, before a first normalisation."""
    start_layout: Layout
    blocks: tuple[Block, ...]
    """The residual blocks in the order in which they run."""
    image: tuple[int, int] | None
    """The image's height and width in pixels; None for text."""
    cls: int | None
    """The token whose row a rollout reads, in the last block's layout: CLS, or −1 for the last
    token of a causal language model; None without one."""
    reads: Readout
    """How the head reads the tokens."""
    in_place: bool
    """Whether a tensor at one of the points is later changed in place."""

    def __str__(self) -> str:
        """Return a small table; blocks of the same layout share a row."""
        size = "text" if self.image is None else f"{self.image[0]} × {self.image[1]} pixels"
        cls = "none" if self.cls is None else str(self.cls)
        rows = [
            ("input", size, ""),
            ("h₀", str(self.start), str(self.start_layout)),
            *((f"block {span}", names, layout) for span, names, layout in self._runs()),
            ("head", f"reads {self.reads.name.lower().replace('_', ' ')}", f"CLS: {cls}"),
        ]
        rows += [("note", "a captured tensor is later changed in place", "")] * self.in_place
        widths = [max(len(row[i]) for row in rows) for i in range(2)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in rows)

    def _runs(self) -> list[tuple[str, str, str]]:
        """Join neighbouring blocks of one layout: (numbers, paths, layout)."""
        starts = [
            i
            for i, block in enumerate(self.blocks)
            if i == 0 or block.layout != self.blocks[i - 1].layout
        ]
        runs = []
        for first, after in zip(starts, [*starts[1:], len(self.blocks)], strict=True):
            last = after - 1
            names = [str(self.blocks[i].point) for i in (first, last)]
            span = f"{first}…{last}" if last > first else f"{first}"
            path = f"{names[0]} … {names[1]}" if last > first else names[0]
            runs.append((span, path, str(self.blocks[first].layout)))
        return runs
