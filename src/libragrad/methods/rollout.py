"""Attention Rollout: a row of the product of all layers' attention.

    R = Π_l (½ Ā_l + ½ I), later layers on the left, Ā the mean over the heads;
    the map is the row of R that the head reads.

A row of a product of matrices is a vector pushed through them, last layer first, which is the order
of the backward: r ← ½ r Ā_l + ½ r costs O(N²) a layer and keeps O(N).

Which row is read follows the head: CLS, the last token, or the mean over the patches of a model
that pools. The paper's code reads row 0, whatever the head does (`profile="paper"`).
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from libragrad.methods.method import Method, from_pool, pools, row_zero, square, with_attention
from libragrad.observation.attention import Attention
from libragrad.observation.events import Event, Scene, Tally
from libragrad.observation.observer import Observer


class Rollout(Observer):
    """Pushes the row that the head reads through ½ Ā + ½ I."""

    hears = frozenset({Event.ATTENTION})
    title: ClassVar[str] = "Attention Rollout"
    gradient: ClassVar[bool] = False

    def __init__(self, scene: Scene) -> None:
        """Begin with what the head reads."""
        super().__init__(scene)
        self.row = self.first_row()
        self.met = False

    def first_row(self) -> Tensor:
        """Return the row before any layer."""
        return self.scene.readout()

    def attention(self, at: Attention) -> None:
        """Push the row through one layer. An attention pool says itself which row is read."""
        if pools(at, self.scene):
            self.row = from_pool(at, self.mean, gradient=self.gradient).to(self.row)
            return
        square(at, self.scene, self.title)
        self.row = 0.5 * (at.pull(self.row, self.mean, gradient=self.gradient) + self.row)
        self.met = True

    @staticmethod
    def mean(a: Tensor, da: Tensor) -> Tensor:
        """Ā of some queries: the mean over the heads."""
        return a.mean(1)

    def result(self) -> Tally:
        """Return the row, if any attention was met."""
        with_attention(self.met, self.title)
        return self.row, self.rest


class PaperRollout(Rollout):
    """Reads row 0."""

    def first_row(self) -> Tensor:
        """Return row 0 of the unit matrix."""
        return row_zero(self.scene)


ROLLOUT = Method(
    key="rollout",
    title="Attention Rollout",
    formula="the head's row of Π_l (½ Ā_l + ½ I)",
    citation="Abnar and Zuidema, Quantifying Attention Flow (ACL 2020)",
    observer=Rollout,
    paper=PaperRollout,
    gradient=False,
)
