"""RawAtt: the last layer's attention, mean over the heads, in the row that the head reads."""

from __future__ import annotations

from torch import Tensor

from libragrad.methods.method import Method, from_pool, pools, row_zero, square, with_attention
from libragrad.observation.attention import Attention
from libragrad.observation.events import Event, Scene, Tally
from libragrad.observation.observer import Observer


class RawAtt(Observer):
    """Takes the first attention met in the backward, which is the last layer's."""

    hears = frozenset({Event.ATTENTION})

    def __init__(self, scene: Scene) -> None:
        """Begin before any attention."""
        super().__init__(scene)
        self.met = False

    def first_row(self) -> Tensor:
        """Return which rows of A are read."""
        return self.scene.readout()

    def attention(self, at: Attention) -> None:
        """Read one row of the last layer, or what an attention pool reads."""
        if not self.met and pools(at, self.scene):
            self.tokens = from_pool(at, lambda a, _: a.mean(1), gradient=False).to(self.tokens)
        elif not self.met:
            square(at, self.scene, "RawAtt")
            self.tokens = at.pull(self.first_row(), lambda a, _: a.mean(1), gradient=False)
        self.met = True

    def result(self) -> Tally:
        """Return the row, if any attention was met."""
        with_attention(self.met, "RawAtt")
        return super().result()


class PaperRawAtt(RawAtt):
    """Reads row 0."""

    def first_row(self) -> Tensor:
        """Return row 0 of the unit matrix."""
        return row_zero(self.scene)


RAWATT = Method(
    key="rawatt",
    title="RawAtt",
    formula="the head's row of mean_h A_{L−1}",
    citation="the attention weights themselves",
    observer=RawAtt,
    paper=PaperRawAtt,
    gradient=False,
)
