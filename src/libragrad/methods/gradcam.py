"""GradCAM: channels weighed by their mean gradient over all tokens.

    w_c = (1/N) Σ_t ∂y/∂h[t, c],    a_t = Σ_c w_c h[t, c]

at the input of the last block; GradCAM+ is the sum over the inputs of all blocks. All N tokens
count, prefix tokens included, and there is no ReLU.
"""

from __future__ import annotations

from typing import final

import torch

from libragrad.methods.method import Method
from libragrad.observation.events import Crossing, Event, Tally
from libragrad.observation.observer import Observer


@final
class GradCAM(Observer):
    """The last layer."""

    hears = frozenset({Event.CROSSING})

    def crossing(self, at: Crossing) -> None:
        """Take the last layer."""
        if at.layer == self.scene.layers - 1:
            self.add(_cam(at))


@final
class GradCAMPlus(Observer):
    """Every layer."""

    hears = frozenset({Event.CROSSING})

    def crossing(self, at: Crossing) -> None:
        """Take every layer."""
        self.add(_cam(at))


def _cam(at: Crossing) -> Tally:
    return at.place(torch.einsum("btc,bc->bt", at.step, at.g.mean(1)))


GRADCAM = Method(
    key="gradcam",
    title="GradCAM",
    formula="Σ_c mean_t(∂y/∂h_{L−1})_c · h_{L−1}",
    citation="Selvaraju et al., Grad-CAM (ICCV 2017)",
    observer=GradCAM,
)

GRADCAM_PLUS = Method(
    key="gradcam+",
    title="GradCAM+",
    formula="Σ_l Σ_c mean_t(∂y/∂h_l)_c · h_l",
    citation="Mehri et al., LibraGrad (CVPR 2025), after Grad-CAM",
    observer=GradCAMPlus,
)
