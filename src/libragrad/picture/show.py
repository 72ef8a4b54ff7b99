"""Show a sheet where the user is: in a notebook, or in a terminal as well as it can."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from libragrad.picture.ansi import TRUE_COLOURS
from libragrad.picture.characters import characters
from libragrad.picture.choice import choose
from libragrad.picture.explained import Explained
from libragrad.picture.figure import figure
from libragrad.picture.look import PAPER, Look
from libragrad.picture.notebook import framed, notebook_display
from libragrad.picture.page import page
from libragrad.picture.protocols import PROTOCOLS
from libragrad.picture.save import figure_file
from libragrad.picture.sheet import Sheet
from libragrad.picture.terminal import Terminal, terminal
from libragrad.picture.words import words_page, words_terminal

__all__ = ["WAYS", "show", "show_words"]

WAYS: Mapping[str, Terminal] = {
    "kitty": Terminal("kitty", TRUE_COLOURS),
    "iterm2": Terminal("iterm2", TRUE_COLOURS),
    "sixel": Terminal("sixel", TRUE_COLOURS),
    "blocks": Terminal("", TRUE_COLOURS),
    "blocks256": Terminal("", 256),
    "ascii": Terminal("", 0),
}
"""The ways to show a sheet in a terminal, by name."""

_COLUMN = 8  # pixels: what terminals do not tell, and few are narrower


def show(
    sheet: Sheet,
    look: Look = PAPER,
    way: str | None = None,
    stream: TextIO | None = None,
    environment: Mapping[str, str] | None = None,
    columns: int | None = None,
) -> None:
    """Show the sheet in the notebook, or write it to the terminal.

    `way` is one of `WAYS`; without it the terminal's `environment` (the process's own, if not
    given) tells what it can: a real picture by the protocols of kitty, iTerm2 or sixel, half blocks
    in colours, or digits.
    """
    display = notebook_display() if way is None and stream is None else None
    if display is not None:
        title = ", ".join(dict.fromkeys(cell.method for cell in sheet.every()))
        html = framed(page(sheet, look), title)
        display({"text/html": html, "image/png": figure_file(sheet, look)}, raw=True)
        return
    stream = stream or sys.stdout
    kind = _terminal(way, stream, environment)
    columns = columns or shutil.get_terminal_size().columns
    if kind.protocol:
        width = figure(sheet, look).get_figwidth()
        file = figure_file(sheet, look, dpi=min(100.0, columns * _COLUMN / width))
        _write(stream, PROTOCOLS[kind.protocol](file) + "\n")
    else:
        _write(stream, characters(sheet, look, kind.colours, columns))


def show_words(
    explanation: Explained,
    words: Sequence[str],
    way: str | None = None,
    stream: TextIO | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Show an explanation of a text, (B, 1, N) with N token strings, in the same places."""
    display = notebook_display() if way is None and stream is None else None
    if display is not None:
        html = framed(words_page(explanation, words), explanation.name)
        display({"text/html": html}, raw=True)
        return
    stream = stream or sys.stdout
    kind = _terminal(way, stream, environment)
    _write(stream, words_terminal(explanation, words, kind.colours))


def _terminal(way: str | None, stream: TextIO, environment: Mapping[str, str] | None) -> Terminal:
    if way is not None:
        return choose("way to show", way, WAYS)
    # The one place where the environment is read: a terminal describes itself nowhere else.
    return terminal(os.environ if environment is None else environment, stream.isatty())


def _write(stream: TextIO, text: str) -> None:
    """Write what the stream's encoding can say, and a question mark for what it cannot."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, errors="replace").decode(encoding))
    stream.flush()
