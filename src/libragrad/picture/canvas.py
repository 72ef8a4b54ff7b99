"""A matplotlib figure drawn in inches from its upper left corner, as high as it turns out to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from libragrad.picture.colour import Pixels
from libragrad.picture.extra import pictures_extra
from libragrad.picture.lettering import LEADING, height, typeface

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["INK", "POINTS", "QUIET", "Canvas", "fitted"]

INK, QUIET, _LINE, _AREA = "#1b1b1b", "#595959", "#8c8c8c", "#d9d9d9"

POINTS = 72.0
"""Points in an inch."""


class Canvas:
    """What is drawn is kept until the height is known; pyplot and its state are not involved."""

    def __init__(self, width: float) -> None:
        self.width = width
        self._drawn: list[Callable[[Axes], object]] = []

    def figure(self, height: float) -> Figure:
        """Everything that was drawn, on a white figure of that height."""
        with pictures_extra():
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

        figure = Figure(figsize=(self.width, height), facecolor="white")
        FigureCanvasAgg(figure)
        # One pair of axes whose units are inches: a pair for each map would take far longer.
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_autoscale_on(False)
        axes.set_xlim(0, self.width)
        axes.set_ylim(height, 0)
        for draw in self._drawn:
            draw(axes)
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
        if lines:
            self._drawn.append(
                lambda axes: axes.text(
                    x,
                    y,
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
            )
        return height(len(lines), size) / POINTS

    def picture(self, x: float, y: float, width: float, tall: float, pixels: Pixels) -> None:
        """Pixels stretched over the box."""
        self._drawn.append(
            lambda axes: axes.imshow(
                pixels,
                extent=(x, x + width, y + tall, y),
                aspect="auto",
                interpolation="antialiased",
            )
        )

    def curve(self, x: float, y: float, width: float, tall: float, points: Sequence[float]) -> None:
        """A line over equal steps, on a baseline of 0."""
        low, high = min(0.0, *points), max(0.0, *points)
        unit = tall / ((high - low) or 1.0)
        floor = y + high * unit
        across = [x + width * i / max(1, len(points) - 1) for i in range(len(points))]
        down = [y + (high - point) * unit for point in points]

        def draw(axes: Axes) -> None:
            axes.fill_between(across, down, floor, color=_AREA, linewidth=0)
            axes.plot((x, x + width), (floor, floor), color=_LINE, linewidth=0.6)
            axes.plot(across, down, color=INK, linewidth=1.0)

        self._drawn.append(draw)


def fitted(width: float, tall: float, pixels: Pixels) -> tuple[float, float]:
    """The largest size within the box at which pixels are not distorted.

    >>> import numpy as np
    >>> fitted(3.0, 3.0, np.zeros((10, 20, 3), np.uint8))
    (3.0, 1.5)
    """
    scale = min(width / pixels.shape[1], tall / pixels.shape[0])
    return pixels.shape[1] * scale, pixels.shape[0] * scale
