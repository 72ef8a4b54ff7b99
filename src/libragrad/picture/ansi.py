"""Colours of a terminal, as its escape sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

__all__ = ["RESET", "TRUE_COLOURS", "code", "nearest"]

RESET = "\x1b[0m"
TRUE_COLOURS = 1 << 24

_STEPS = (0, 95, 135, 175, 215, 255)
_GREYS = tuple(8 + 10 * i for i in range(24))


def nearest(colour: Sequence[int]) -> int:
    """The nearest of the 240 fixed colours of a 256-colour terminal: its cube and its greys.

    >>> nearest((0, 0, 0)), nearest((255, 0, 0)), nearest((128, 128, 128))
    (16, 196, 244)
    """
    cube = [min(range(6), key=lambda i: abs(_STEPS[i] - part)) for part in colour]
    grey = min(range(24), key=lambda i: sum((_GREYS[i] - part) ** 2 for part in colour))
    from_cube = sum((_STEPS[i] - part) ** 2 for i, part in zip(cube, colour, strict=True))
    from_grey = sum((_GREYS[grey] - part) ** 2 for part in colour)
    if from_grey < from_cube:
        return 232 + grey
    return 16 + 36 * cube[0] + 6 * cube[1] + cube[2]


def code(ground: Literal["ink", "paper"], colour: Sequence[int], colours: int) -> str:
    r"""The sequence that sets the colour of letters (ink) or behind them (paper).

    >>> code("ink", (1, 2, 3), TRUE_COLOURS), code("paper", (255, 0, 0), 256)
    ('\x1b[38;2;1;2;3m', '\x1b[48;5;196m')
    """
    layer = 38 if ground == "ink" else 48
    if colours >= TRUE_COLOURS:
        red, green, blue = (int(part) for part in colour)
        return f"\x1b[{layer};2;{red};{green};{blue}m"
    return f"\x1b[{layer};5;{nearest([int(part) for part in colour])}m"
