"""The level at which attributions are given: tokens, pixels, or what enters some block."""

from __future__ import annotations

from libragrad.errors import InputError
from libragrad.geometry.geometry import Geometry, Point
from libragrad.geometry.layout import Layout


def layers_of(geometry: Geometry, level: str | int) -> list[tuple[Point, Layout]]:
    """Return where h₀ … h_{L−1} enter; the first is the explained level.

    "tokens": h₀ and the inputs of all blocks but the first, which h₀ stands for. "pixels": the
    picture itself before these. A number k: the inputs of blocks k, k + 1, …
    """
    tokens = [(geometry.start, geometry.start_layout)]
    tokens += [(block.point, block.layout) for block in geometry.blocks[1:]]
    if level == "tokens":
        return tokens
    if level == "pixels":
        if geometry.image is None:
            raise InputError(
                "level='pixels' needs a picture, and this model reads text: take 'tokens'"
            )
        return [(Point(""), Layout(geometry.image, prefix=0, channel=1)), *tokens]
    if isinstance(level, int) and -len(geometry.blocks) <= level < len(geometry.blocks):
        return [(block.point, block.layout) for block in geometry.blocks][level:]
    raise InputError(
        f"level={level!r} is not known: it can be 'tokens', 'pixels' or the number of a block, "
        f"0 to {len(geometry.blocks) - 1}"
    )
