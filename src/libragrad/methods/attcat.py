"""AttCAT: Input×Grad of every layer, weighed by how much attention each token receives there.

    α_l[t] = mean over heads and queries of A_l[·, ·, t]
    a_t = Σ_l α_l[t] · Σ_c h_l[t, c] · ∂y/∂h_l[t, c]

with h_l the input of the block whose attention is A_l, as in the method's own code. The code of the
LibraGrad paper pairs A_l with the block's *output*, h_{l+1}, and leaves out the last block
(`profile="paper"`).
"""

from __future__ import annotations

from typing import final

from torch import Tensor

from libragrad.methods.method import Method, pools, square, with_attention
from libragrad.observation.attention import Attention
from libragrad.observation.events import Crossing, Event, Scene, Tally
from libragrad.observation.observer import Observer


class AttCAT(Observer):
    """Keeps the attention received in the present block until its input passes by."""

    hears = frozenset({Event.CROSSING, Event.ATTENTION})

    def __init__(self, scene: Scene) -> None:
        """Begin without attention."""
        super().__init__(scene)
        self._received: dict[int, Tensor] = {}
        self._met = False

    def attention(self, at: Attention) -> None:
        """Note how much each token receives. An attention pool is no layer."""
        if pools(at, self.scene):
            return
        square(at, self.scene, "AttCAT")
        self._received[at.layer] = received(at, self.scene)
        self._met = True

    def crossing(self, at: Crossing) -> None:
        """Weigh this layer's product."""
        alpha = self._received.pop(at.layer, None)
        if alpha is not None:
            tokens, rest = at.input_x_gradient()
            self.add((alpha * tokens, rest))

    def result(self) -> Tally:
        """Return the map, if any attention was met."""
        with_attention(self._met, "AttCAT")
        return super().result()


@final
class PaperAttCAT(Observer):
    """The last block met gives its product, and the block before it the attention."""

    hears = frozenset({Event.CROSSING, Event.ATTENTION})

    def __init__(self, scene: Scene) -> None:
        """Begin without a product."""
        super().__init__(scene)
        self._product: Tensor | None = None
        self._met = False

    def crossing(self, at: Crossing) -> None:
        """Keep the product at the output of the block before."""
        self._product = at.input_x_gradient()[0]

    def attention(self, at: Attention) -> None:
        """Weigh it."""
        if pools(at, self.scene):
            return
        square(at, self.scene, "AttCAT")
        if self._product is not None:
            self.tokens += received(at, self.scene) * self._product
        self._met = True

    def result(self) -> Tally:
        """Return the map, if any attention was met."""
        with_attention(self._met, "AttCAT")
        return super().result()


def received(at: Attention, scene: Scene) -> Tensor:
    """Return the mean over heads and queries of the attention that each token receives."""
    everywhere = scene.like.new_full((scene.rows, scene.tokens), 1 / scene.tokens)
    return at.pull(everywhere, lambda a, _: a.mean(1), gradient=False)


ATTCAT = Method(
    key="attcat",
    title="AttCAT",
    formula="Σ_l mean_{heads, queries}(A_l) ⊙ Σ_c h_l ⊙ ∂y/∂h_l",
    citation="Qiang et al., AttCAT (NeurIPS 2022)",
    observer=AttCAT,
    paper=PaperAttCAT,
)
