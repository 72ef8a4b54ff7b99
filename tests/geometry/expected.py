"""What is known of a model's geometry, in a line: the answers that discovery must give."""

from __future__ import annotations

from typing import NamedTuple

from libragrad.geometry import Geometry, Layout, Readout

CLS, MEAN, POOL = Readout.CLS, Readout.MEAN, Readout.ATTENTION_POOL
LAST, OTHER = Readout.LAST_TOKEN, Readout.OTHER


class Expected(NamedTuple):
    start: str
    """h₀ enters here, …"""
    layout: Layout
    """… and lies like this."""
    blocks: int
    first: str
    last: str
    end: Layout
    """How the last block's input lies."""
    reads: Readout
    cls: int | None = None


def found(geometry: Geometry) -> Expected:
    """The same line of what was discovered, the order of the tokens aside."""
    first, last = geometry.blocks[0], geometry.blocks[-1]
    return Expected(
        str(geometry.start),
        geometry.start_layout,
        len(geometry.blocks),
        str(first.point),
        str(last.point),
        last.layout,
        geometry.reads,
        geometry.cls,
    )


def tokens(rows: int, columns: int | None = None, prefix: int = 0) -> Layout:
    """(B, prefix + rows · columns, C)."""
    return Layout((rows, columns or rows), prefix, channel=2)


def chart(rows: int, columns: int | None = None, channel: int = 1) -> Layout:
    """(B, C, H, W), or (B, H, W, C) with channel=3."""
    return Layout((rows, columns or rows), 0, channel)


def plain(
    layout: Layout, reads: Readout, cls: int | None = None, depth: int = 2, start: str = ""
) -> Expected:
    """`blocks.0` to `blocks.{depth − 1}`, all of one layout, h₀ where the first begins."""
    first, last = "blocks.0", f"blocks.{depth - 1}"
    return Expected(start or first, layout, depth, first, last, layout, reads, cls)
