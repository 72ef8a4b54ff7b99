"""Write a sheet to a file; the suffix of its name says how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Literal

from libragrad.errors import SaveError
from libragrad.picture.figure import figure
from libragrad.picture.look import PAPER, Look
from libragrad.picture.page import page
from libragrad.picture.sheet import Sheet

__all__ = ["Writers", "figure_file", "save", "write"]

Writers = Mapping[str, Callable[[], bytes]]
"""What makes a file's content, by the suffix of its name."""


def save(
    sheet: Sheet,
    path: str | Path,
    look: Look = PAPER,
    dpi: float = 150.0,
    also: Writers | None = None,
) -> Path:
    """Write .png, .svg or .html, or what `also` knows to write."""
    writers: Writers = {
        ".png": lambda: figure_file(sheet, look, "png", dpi),
        ".svg": lambda: figure_file(sheet, look, "svg", dpi),
        ".html": lambda: page(sheet, look).encode(),
        **(also or {}),
    }
    return write(path, writers)


def figure_file(
    sheet: Sheet,
    look: Look = PAPER,
    kind: Literal["png", "svg"] = "png",
    dpi: float = 150.0,
) -> bytes:
    """The figure as the content of a file."""
    file = BytesIO()
    metadata = {"Date": None} if kind == "svg" else None
    figure(sheet, look).savefig(file, format=kind, dpi=dpi, metadata=metadata)
    return file.getvalue()


def write(path: str | Path, writers: Writers) -> Path:
    """Make the content first and write it then, so that a failure leaves no half file.

    >>> write("zebra.gif", {".png": bytes, ".html": bytes})
    Traceback (most recent call last):
        ...
    libragrad.errors.SaveError: cannot save 'zebra.gif': the suffix '.gif' is not known; use one of
    .png, .html
    """
    path = Path(path)
    writer = writers.get(path.suffix.lower())
    if writer is None:
        what = f"the suffix {path.suffix!r} is not known" if path.suffix else "it has no suffix"
        raise SaveError(f"cannot save '{path}': {what}; use one of {', '.join(writers)}")
    if not path.parent.is_dir():
        raise SaveError(
            f"cannot save '{path}': the folder '{path.parent}' does not exist; make it first"
        )
    content = writer()
    try:
        path.write_bytes(content)
    except PermissionError as refused:
        raise SaveError(
            f"cannot save '{path}': no permission to write there; choose another folder"
        ) from refused
    except OSError as failed:
        reason = (failed.strerror or str(failed)).lower()
        raise SaveError(f"cannot save '{path}': {reason}") from failed
    return path
