"""A page within a notebook: in a frame of its own, so that neither disturbs the other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from html import escape
from typing import Any

__all__ = ["framed", "notebook_display"]


def framed(page: str, title: str) -> str:
    """An HTML page as an element that grows to the page's height.

    >>> framed("<p>a</p>", "b")[:38]
    '<iframe title="b" srcdoc="&lt;p&gt;a&l'
    """
    grow = "this.style.height = this.contentDocument.body.offsetHeight + 'px'"
    return (
        f'<iframe title="{escape(title)}" srcdoc="{escape(page)}" onload="{grow}" '
        'style="width: 100%; height: 40rem; border: 0"></iframe>'
    )


def notebook_display() -> Callable[..., Any] | None:
    """IPython's `display` if this runs in a notebook's kernel, else None.

    >>> notebook_display() is None
    True
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if ipython is None or shell is None or not hasattr(shell, "kernel"):
        return None
    display: Callable[..., Any] = ipython.display.display
    return display
