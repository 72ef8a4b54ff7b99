"""A matplotlib figure drawn in inches from its upper left corner, as high as it turns out to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from libragrad.picture.colour import Pixels
from libragrad.picture.extra import pictures_extra
from libragrad.picture.lettering import LEADING, height, typeface

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["INK", "POINTS", "QUIET", "Canvas"]

INK, QUIET, _LINE, _AREA = "#1b1b1b", "#595959", "#8c8c8c", "#d9d9d9"

POINTS = 72.0
"""Points in an inch."""


class Canvas:
    """What is drawn is kept until the height is known; pyplot and its state are not involved."""

    def __init__(self, width: float) -> None:
        self.width = width
        self._drawn: list[Callable[[Figure, float], None]] = []

    def figure(self, height: float) -> Figure:
        """Everything that was drawn, on a white figure of that height."""
        with pictures_extra():
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

        figure = Figure(figsize=(self.width, height), facecolor="white")
        FigureCanvasAgg(figure)
        for draw in self._drawn:
            draw(figure, height)
        return figure

    def text(
        self,
        x: float,
        y: float,
        lines: Sequence[str],
        size: float,
        colour: str = INK,
        weight: str = "normal",
        across: Literal["left", "center", "right"] = "left",
        down: Literal["top", "center", "baseline"] = "top",
    ) -> float:
        """Lines whose alignment point is (x, y); the height that they take."""
        if not lines:
            return 0.0

        def draw(figure: Figure, high: float) -> None:
            figure.text(
                x / self.width,
                1 - y / high,
                "\n".join(lines),
                fontfamily=list(typeface()),
                fontsize=size,
                fontweight=weight,
                color=colour,
                horizontalalignment=across,
                multialignment=across,
                verticalalignment=down,
                linespacing=LEADING,
                parse_math=False,
            )

        self._drawn.append(draw)
        return height(len(lines), size) / POINTS

    def picture(self, x: float, y: float, width: float, tall: float, pixels: Pixels) -> None:
        """Pixels as large as fits into the box, at its upper left corner, undistorted."""

        def draw(figure: Figure, high: float) -> None:
            axes = self._axes(figure, high, x, y, width, tall)
            axes.imshow(pixels, interpolation="antialiased")
            axes.set_anchor("NW")

        self._drawn.append(draw)

    def bar(self, x: float, y: float, width: float, tall: float, colours: Pixels) -> None:
        """Colours from left to right."""

        def draw(figure: Figure, high: float) -> None:
            axes = self._axes(figure, high, x, y, width, tall)
            axes.imshow(colours[None], aspect="auto", interpolation="nearest")

        self._drawn.append(draw)

    def curve(self, x: float, y: float, width: float, tall: float, points: Sequence[float]) -> None:
        """A line over equal steps, on a baseline of 0."""

        def draw(figure: Figure, high: float) -> None:
            axes = self._axes(figure, high, x, y, width, tall)
            steps = np.arange(len(points))
            axes.fill_between(steps, points, color=_AREA, linewidth=0)
            axes.plot(steps, points, color=INK, linewidth=1.0)
            axes.axhline(0, color=_LINE, linewidth=0.6)
            low, top = min(0.0, *points), max(0.0, *points)
            room = 0.05 * ((top - low) or 1.0)
            axes.set_xlim(0, max(1, len(points) - 1))
            axes.set_ylim(low - room, top + room)

        self._drawn.append(draw)

    def _axes(
        self, figure: Figure, high: float, x: float, y: float, width: float, tall: float
    ) -> Axes:
        """Axes without a frame in the box."""
        box = (x / self.width, 1 - (y + tall) / high, width / self.width, tall / high)
        axes = figure.add_axes(box)
        axes.set_axis_off()
        return axes
