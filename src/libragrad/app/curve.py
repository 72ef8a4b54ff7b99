"""Deletion curves as a small drawing: how the probability falls while patches go."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from libragrad.metrics.steps import FRACTIONS, removed_fractions
from libragrad.picture.numeral import numeral

__all__ = ["curve"]

WIDTH, HEIGHT = 100.0, 36.0


def curve(after: Sequence[float], before: Sequence[float] = ()) -> str:
    """One curve, and the plain gradient's dashed behind it, on a scale from 0.

    >>> "0.5 → 0.1" in curve([0.5, 0.1])
    True
    """
    high = max([*after, *before]) or 1.0
    lines = "".join(
        f'<polyline class="{name}" points="{_points(points, high)}"></polyline>'
        for name, points in (("was", before), ("now", after))
        if points
    )
    end = numeral(100 * removed_fractions(FRACTIONS)[-1])
    words = f"probability {numeral(after[0])} → {numeral(after[-1])}"
    beside = f", plain → {numeral(before[-1])} (dashed)" if before else ""
    spoken = f"Deletion curve: {words}{beside}"
    return (
        f'<svg viewBox="0 -1 {WIDTH:g} {HEIGHT + 2:g}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(spoken)}">'
        f'<path d="M0,{HEIGHT:g} H{WIDTH:g}"></path>{lines}</svg>'
        f"<p>{escape(words + beside)} as up to {end}&nbsp;% of the patches go, the most "
        "influential first</p>"
    )


def _points(values: Sequence[float], high: float) -> str:
    step = WIDTH / max(1, len(values) - 1)
    return " ".join(f"{i * step:.2f},{HEIGHT * (1 - v / high):.2f}" for i, v in enumerate(values))
