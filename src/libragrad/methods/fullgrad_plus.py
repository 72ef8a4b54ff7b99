"""FullGrad+: Input×Grad at the input of every layer, and every bias once (the paper's equation).

    a_t = Σ_l Σ_c h_l[t, c] · ∂y/∂h_l[t, c] + Σ_b Σ_c b_c · ∂y/∂z_b[t, c]

The paper's other reading, "by layers", is Σ_l FullGrad_l: at each layer, the biases from there on.
It counts a bias of block m, m = 0 … L − 1, as often as layers begin before it: m + 1 times.
"""

from __future__ import annotations

from typing import final

from torch import Tensor

from libragrad.methods.fullgrad import first_token
from libragrad.methods.method import Method
from libragrad.observation.events import Bias, Crossing, Event, Scene, Tally
from libragrad.observation.observer import Observer


class FullGradPlus(Observer):
    """The input part of every layer, and every bias once."""

    hears = frozenset({Event.CROSSING, Event.BIAS})

    def __init__(self, scene: Scene) -> None:
        """Begin with an empty account."""
        super().__init__(scene)
        self._account = self.rest.clone()

    def crossing(self, at: Crossing) -> None:
        """Take every layer; the first is the input part of the account."""
        tokens, rest = at.input_x_gradient()
        self.add((tokens, rest))
        if at.layer == 0:
            self._account += tokens.sum(1) + rest

    def bias(self, at: Bias) -> None:
        """Take every bias once."""
        self.add((at.tokens, at.rest))
        self._account += at.tokens.sum(1) + at.rest

    def accounted(self) -> Tensor:
        """Return the input part of the first layer and all biases: FullGrad, of which this is made.

        The map itself counts the input part once a layer, so it adds up to more.
        """
        return self._account


class FullGradByLayers(FullGradPlus):
    """FullGrad from every layer on, added up."""

    def bias(self, at: Bias) -> None:
        """Take a bias once for each layer that begins before it."""
        times = at.layer + 1
        self.add((times * at.tokens, times * at.rest))
        self._account += at.tokens.sum(1) + at.rest


@final
class PaperFullGradPlus(FullGradPlus):
    """What has no place is given to the first token."""

    def result(self) -> Tally:
        """Move the rest onto token 0."""
        return first_token(*super().result())


@final
class PaperFullGradByLayers(FullGradByLayers):
    """What has no place is given to the first token."""

    def result(self) -> Tally:
        """Move the rest onto token 0."""
        return first_token(*super().result())


FULLGRAD_PLUS = Method(
    key="fullgrad+",
    title="FullGrad+",
    formula="Σ_l Σ_c h_l ⊙ ∂y/∂h_l + Σ_b b ⊙ ∂y/∂z_b",
    citation="Mehri et al., LibraGrad (CVPR 2025)",
    observer=FullGradPlus,
    paper=PaperFullGradPlus,
)

FULLGRAD_BY_LAYERS = Method(
    key="fullgrad+layers",
    title="FullGrad+ by layers",
    formula="Σ_l (Σ_c h_l ⊙ ∂y/∂h_l + Σ_{b after h_l} b ⊙ ∂y/∂z_b)",
    citation="Mehri et al., LibraGrad (CVPR 2025), the other reading of its code",
    observer=FullGradByLayers,
    paper=PaperFullGradByLayers,
)
