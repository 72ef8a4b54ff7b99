"""Real pictures in terminals: the protocols of kitty, iTerm2 and sixel."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from io import BytesIO
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from libragrad.picture.extra import pictures_extra

__all__ = ["PROTOCOLS", "iterm2", "kitty", "sixel"]

_CHUNK = 4096


def kitty(file: bytes) -> str:
    r"""A PNG file in kitty's graphics protocol: base64 in chunks, m=1 on all but the last.

    >>> kitty(b"a")
    '\x1b_Ga=T,f=100,q=2,m=0;YQ==\x1b\\'
    """
    text = b64encode(file).decode()
    chunks = [text[i : i + _CHUNK] for i in range(0, len(text), _CHUNK)]
    parts = []
    for i, chunk in enumerate(chunks):
        start = "a=T,f=100,q=2," if i == 0 else ""
        parts.append(f"\x1b_G{start}m={int(i < len(chunks) - 1)};{chunk}\x1b\\")
    return "".join(parts)


def iterm2(file: bytes) -> str:
    r"""A PNG file in iTerm2's protocol.

    >>> iterm2(b"a")
    '\x1b]1337;File=inline=1;size=1:YQ==\x07'
    """
    return f"\x1b]1337;File=inline=1;size={len(file)}:{b64encode(file).decode()}\x07"


def sixel(file: bytes) -> str:
    """A PNG file as sixels: bands of six rows, for each colour the pixels that have it."""
    with pictures_extra():
        from PIL import Image

    # Without the k-means step, grey text takes the tint of the picture's colours.
    image = Image.open(BytesIO(file)).convert("RGB").quantize(255, kmeans=1)
    palette = np.array(image.getpalette() or [], dtype=np.int64).reshape(-1, 3) * 100 // 255
    index = np.asarray(image)
    registers = "".join(f"#{i};2;{r};{g};{b}" for i, (r, g, b) in enumerate(palette))
    bands = [_band(index[top : top + 6]) for top in range(0, index.shape[0], 6)]
    size = f'"1;1;{index.shape[1]};{index.shape[0]}'
    return f"\x1bPq{size}{registers}{'-'.join(bands)}\x1b\\"


def _band(rows: npt.NDArray[np.uint8]) -> str:
    """Six rows: a line for each colour, of which each character is a column of six bits."""
    weights = 1 << np.arange(len(rows))
    lines = []
    for colour in np.unique(rows):
        bits = weights @ (rows == colour)
        starts = np.flatnonzero(np.diff(bits, prepend=-1))
        lengths = np.diff(starts, append=len(bits))
        runs = zip(bits[starts].tolist(), lengths.tolist(), strict=True)
        lines.append(f"#{colour}" + "".join(_run(chr(63 + b), n) for b, n in runs))
    return "$".join(lines)


def _run(letter: str, count: int) -> str:
    return f"!{count}{letter}" if count > 3 else letter * count


PROTOCOLS: Mapping[str, Callable[[bytes], str]] = MappingProxyType(
    {"kitty": kitty, "iterm2": iterm2, "sixel": sixel}
)
"""How a PNG file is written to a terminal, by the name of the protocol. Read-only."""
