"""HiResCAM: Input×Grad at the input of the last block, a_t = Σ_c h_{L−1}[t, c] · ∂y/∂h_{L−1}[t, c].

No ReLU: maps are signed, and a picture that wants the positive part takes it.
"""

from __future__ import annotations

from typing import final

from libragrad.methods.method import Method
from libragrad.observation.events import Crossing, Event
from libragrad.observation.observer import Observer


@final
class HiResCAM(Observer):
    """The product at the last layer alone."""

    hears = frozenset({Event.CROSSING})

    def crossing(self, at: Crossing) -> None:
        """Take the last layer."""
        if at.layer == self.scene.layers - 1:
            self.add(at.input_x_gradient())


HIRESCAM = Method(
    key="hirescam",
    title="HiResCAM",
    formula="Σ_c h_{L−1} ⊙ ∂y/∂h_{L−1}",
    citation="Draelos and Carin, HiResCAM (2020)",
    observer=HiResCAM,
)
