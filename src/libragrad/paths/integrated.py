"""Integrated: the straight line from a baseline to the input.

Sundararajan, Taly and Yan, Axiomatic Attribution for Deep Networks (ICML 2017):

    IG = (x − x′) ⊙ ∫₀¹ ∂y/∂x (x′ + α (x − x′)) dα,      Σ IG = y(x) − y(x′).

At a deeper layer the line becomes a curve h_l(α), and the same integral is ∫ g_l ⊙ (dh_l/dα) dα, so
what meets the gradient is the velocity of the tokens. At the first layer it is x − x′.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from libragrad.errors import InputError


@dataclass(frozen=True)
class Integrated:
    """The trapezoid rule over `steps` equal parts of the line from `baseline` (zero if not given).

    >>> Integrated(steps=4).weights()
    tensor([0.1250, 0.2500, 0.2500, 0.2500, 0.1250], dtype=torch.float64)
    >>> Integrated(steps=4, paper=True).weights()
    tensor([0.2500, 0.2500, 0.2500, 0.2500], dtype=torch.float64)
    """

    steps: int = 50
    baseline: Tensor | None = None
    """What the line starts from; it broadcasts to the explained level (tokens or pixels)."""
    paper: bool = False
    """As in the paper's code: α = k/steps, k = 1 … steps, and the *interpolated* tokens meet the
    gradient. That is not IG (for tanh at 0.8 it gives 0.30, not 0.66)."""
    prefix: str = "Int. "

    def __post_init__(self) -> None:
        """Refuse a line without parts."""
        if self.steps < 1:
            raise InputError(f"an integrated path needs at least one step, got steps={self.steps}")

    def weights(self) -> Tensor:
        """Trapezoid: the two ends count half."""
        if self.paper:
            return torch.full((self.steps,), 1 / self.steps, dtype=torch.float64)
        w = torch.full((self.steps + 1,), 1 / self.steps, dtype=torch.float64)
        w[0] = w[-1] = 0.5 / self.steps
        return w

    def alphas(self, points: Tensor) -> Tensor:
        """Return α at some points."""
        return (points.double() + self.paper) / self.steps

    def at(self, x: Tensor, points: Tensor) -> Tensor:
        """x′ + α (x − x′)."""
        a = self.alphas(points).to(x.dtype).view(-1, *[1] * x.dim())
        if self.baseline is None:
            return a * x
        far = self.baseline.to(x)
        try:
            fits = torch.broadcast_shapes(far.shape, x.shape) == x.shape
        except RuntimeError:
            fits = False
        if not fits:
            raise InputError(
                f"the baseline has the shape {tuple(far.shape)}, which does not broadcast to what "
                f"is explained, {tuple(x.shape)}; with level='pixels' that is the picture"
            )
        return far + a * (x - far)

    def velocity(self, h: Tensor, points: Tensor) -> Tensor:
        """dh/dα by central differences, one-sided at the ends.

        With the trapezoid's weights the sum over α is Σ ½ (g_k + g_{k−1}) (h_k − h_{k−1}).
        """
        if self.paper:
            return h
        if len(points) < 2:
            raise ValueError("a velocity needs two points of the path at least")
        ahead, behind = torch.cat([h[1:], h[-1:]]), torch.cat([h[:1], h[:-1]])
        last = len(h) - 1
        width = torch.tensor([1.0 if k in (0, last) else 2.0 for k in range(len(h))]).to(h)
        return (ahead - behind) * (self.steps / width).view(-1, *[1] * (h.dim() - 1))

    def needs(self, points: list[int]) -> list[int]:
        """The neighbours on both sides."""
        if self.paper:
            return points
        return list(range(max(points[0] - 1, 0), min(points[-1] + 2, self.steps + 1)))

    @property
    def far_end(self) -> int | None:
        """The baseline, α = 0, which the paper's points leave out."""
        return None if self.paper else 0
