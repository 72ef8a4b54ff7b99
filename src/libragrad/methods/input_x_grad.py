"""Input×Grad: a_t = Σ_c h₀[t, c] · ∂y/∂h₀[t, c]."""

from __future__ import annotations

from typing import final

from torch import Tensor

from libragrad.methods.method import Method
from libragrad.observation.events import Crossing, Event
from libragrad.observation.observer import Observer


@final
class InputXGrad(Observer):
    """Adds up the product at the explained level alone."""

    hears = frozenset({Event.CROSSING})

    def crossing(self, at: Crossing) -> None:
        """Take layer 0."""
        if at.layer == 0:
            self.add(at.input_x_gradient())

    def accounted(self) -> Tensor:
        """Return the sum of the map."""
        return self.tokens.sum(1) + self.rest


INPUT_X_GRAD = Method(
    key="input_x_grad",
    title="Input×Grad",
    formula="Σ_c h₀ ⊙ ∂y/∂h₀",
    citation="Shrikumar et al., Not Just a Black Box (2016)",
    observer=InputXGrad,
)
