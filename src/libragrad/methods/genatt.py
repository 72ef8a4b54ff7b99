"""GenAtt: a rollout of attention weighed by its gradient.

    Ā_l = mean over heads of ReLU(A_l ⊙ ∂y/∂A_l),    R = Π_l (½ Ā_l + ½ I)

which is Chefer's Π (I + Ā_l), up to the factor 2^{−L}, with ½ Ā for Ā as in the paper's code.
"""

from __future__ import annotations

from torch import Tensor

from libragrad.methods.method import Method, row_zero
from libragrad.methods.rollout import Rollout


class GenAtt(Rollout):
    """Ā = mean over heads of ReLU(A ⊙ ∂A)."""

    title = "GenAtt"
    gradient = True

    @staticmethod
    def mean(a: Tensor, da: Tensor) -> Tensor:
        """Weigh attention by its gradient."""
        return (a * da).relu().mean(1)


class PaperGenAtt(GenAtt):
    """Reads row 0."""

    def first_row(self) -> Tensor:
        """Return row 0 of the unit matrix."""
        return row_zero(self.scene)


GENATT = Method(
    key="genatt",
    title="GenAtt",
    formula="the head's row of Π_l (½ mean_h ReLU(A_l ⊙ ∂A_l) + ½ I)",
    citation="Chefer et al., Generic Attention-model Explainability (ICCV 2021)",
    observer=GenAtt,
    paper=PaperGenAtt,
)
