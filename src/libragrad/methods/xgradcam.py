"""XGradCAM: channels weighed by their gradient where they are active.

    w_c = Σ_t ∂y/∂h[t, c] · |h[t, c]| / (Σ_t |h[t, c]| + 10⁻⁷),    a_t = Σ_c w_c h[t, c]

at the input of the last block; XGradCAM+ is the sum over the inputs of all blocks. In a CNN after
ReLU |h| is h, as the method's own paper has it; tokens have both signs, hence the absolute value.
"""

from __future__ import annotations

from typing import final

import torch

from libragrad.methods.method import Method
from libragrad.observation.events import Crossing, Event, Tally
from libragrad.observation.observer import Observer

EPSILON = 1e-7


@final
class XGradCAM(Observer):
    """The last layer."""

    hears = frozenset({Event.CROSSING})

    def crossing(self, at: Crossing) -> None:
        """Take the last layer."""
        if at.layer == self.scene.layers - 1:
            self.add(_cam(at))


@final
class XGradCAMPlus(Observer):
    """Every layer."""

    hears = frozenset({Event.CROSSING})

    def crossing(self, at: Crossing) -> None:
        """Take every layer."""
        self.add(_cam(at))


def _cam(at: Crossing) -> Tally:
    size = at.h.abs()
    w = (at.g * size).sum(1) / (size.sum(1) + EPSILON)
    return at.place(torch.einsum("btc,bc->bt", at.step, w))


XGRADCAM = Method(
    key="xgradcam",
    title="XGradCAM",
    formula="Σ_c w_c h_{L−1}, w_c = Σ_t (∂y/∂h ⊙ |h|)_c / Σ_t |h|_c",
    citation="Fu et al., Axiom-based Grad-CAM (BMVC 2020)",
    observer=XGradCAM,
)

XGRADCAM_PLUS = Method(
    key="xgradcam+",
    title="XGradCAM+",
    formula="Σ_l Σ_c w_c h_l, w_c = Σ_t (∂y/∂h_l ⊙ |h_l|)_c / Σ_t |h_l|_c",
    citation="Mehri et al., LibraGrad (CVPR 2025), after XGrad-CAM",
    observer=XGradCAMPlus,
)
