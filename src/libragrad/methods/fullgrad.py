"""FullGrad: Input×Grad and what each bias gave to the output, at the token where it entered.

    a_t = Σ_c h₀[t, c] · ∂y/∂h₀[t, c] + Σ_b Σ_c b_c · ∂y/∂z_b[t, c]

Under a complete preset the map and what has no place on it add up to y.
"""

from __future__ import annotations

from typing import final

from torch import Tensor

from libragrad.methods.method import Method
from libragrad.observation.events import Bias, Crossing, Event, Tally
from libragrad.observation.observer import Observer


class FullGrad(Observer):
    """The input part of layer 0, and every bias once."""

    hears = frozenset({Event.CROSSING, Event.BIAS})

    def crossing(self, at: Crossing) -> None:
        """Take layer 0."""
        if at.layer == 0:
            self.add(at.input_x_gradient())

    def bias(self, at: Bias) -> None:
        """Take every bias once."""
        self.add((at.tokens, at.rest))

    def accounted(self) -> Tensor:
        """Return the sum of the map and of what has no place on it."""
        return self.tokens.sum(1) + self.rest


@final
class PaperFullGrad(FullGrad):
    """As in the paper's code: what has no place (a head's bias) is given to the first token."""

    def result(self) -> Tally:
        """Move the rest onto token 0."""
        return first_token(*super().result())


def first_token(tokens: Tensor, rest: Tensor) -> Tally:
    """Give what has no place to token 0, which is CLS or, without one, the top-left patch."""
    tokens = tokens.clone()
    tokens[:, 0] += rest
    return tokens, rest.new_zeros(rest.shape)


FULLGRAD = Method(
    key="fullgrad",
    title="FullGrad",
    formula="Σ_c h₀ ⊙ ∂y/∂h₀ + Σ_b b ⊙ ∂y/∂z_b",
    citation="Srinivas and Fleuret, Full-Gradient Representation (NeurIPS 2019)",
    observer=FullGrad,
    paper=PaperFullGrad,
)
