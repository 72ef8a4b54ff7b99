"""What a terminal can show, told by its environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from libragrad.picture.ansi import TRUE_COLOURS

__all__ = ["Terminal", "terminal"]

_KITTY = ("kitty", "ghostty", "wezterm")
_ITERM2 = ("iterm", "mintty")
_SIXEL = ("sixel", "foot", "mlterm", "contour", "yaft")
_DARK = ("", "dumb", "linux", "vt100", "vt102", "vt220", "unknown")


@dataclass(frozen=True)
class Terminal:
    """The protocol for real pictures ("" for none), the number of colours (0 for none)."""

    protocol: str
    colours: int


def terminal(environment: Mapping[str, str], interactive: bool) -> Terminal:
    """What the variables that terminals set say of them.

    No colours where the output is no terminal or the user wants none (`NO_COLOR`). Within tmux and
    screen the outer terminal's protocol is out of reach.

    >>> terminal({"TERM": "xterm-kitty", "COLORTERM": "truecolor"}, interactive=True).protocol
    'kitty'
    >>> terminal({"TERM": "xterm-256color"}, interactive=True)
    Terminal(protocol='', colours=256)
    >>> terminal({"TERM": "xterm-256color"}, interactive=False)
    Terminal(protocol='', colours=0)
    """
    kind = environment.get("TERM", "").lower()
    if not interactive or environment.get("NO_COLOR") or kind in _DARK:
        return Terminal("", 0)
    program = environment.get("TERM_PROGRAM", "") or environment.get("LC_TERMINAL", "")
    names = f"{kind} {program.lower()}"
    deep = environment.get("COLORTERM", "").lower() in ("truecolor", "24bit")
    colours = TRUE_COLOURS if deep or kind.endswith("-direct") else 256
    if environment.get("TMUX") or kind.startswith(("screen", "tmux")):
        return Terminal("", colours)
    if environment.get("KITTY_WINDOW_ID") or any(name in names for name in _KITTY):
        return Terminal("kitty", TRUE_COLOURS)
    if any(name in names for name in _ITERM2):
        return Terminal("iterm2", TRUE_COLOURS)
    if any(name in names for name in _SIXEL):
        return Terminal("sixel", colours)
    return Terminal("", colours)
