"""LayerCAM: a_t = Σ_c h[t, c] · ReLU(∂y/∂h[t, c]) at the input of the last block."""

from __future__ import annotations

from typing import final

from libragrad.methods.method import Method
from libragrad.observation.events import Crossing, Event
from libragrad.observation.observer import Observer


@final
class LayerCAM(Observer):
    """Each token's own positive gradient weighs its channels."""

    hears = frozenset({Event.CROSSING})

    def crossing(self, at: Crossing) -> None:
        """Take the last layer."""
        if at.layer == self.scene.layers - 1:
            self.add(at.place((at.step * at.g.relu()).sum(-1)))


LAYERCAM = Method(
    key="layercam",
    title="LayerCAM",
    formula="Σ_c h_{L−1} ⊙ ReLU(∂y/∂h_{L−1})",
    citation="Jiang et al., LayerCAM (IEEE TIP 2021)",
    observer=LayerCAM,
)
