"""Smooth: the mean over a cloud of noise around the input.

Smilkov et al., SmoothGrad: removing noise by adding noise (2017): ∂y/∂x averaged over x + σ ε with
normal ε; σ is a share of the spread (largest − smallest) of the tokens. The clean tokens meet it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from libragrad.errors import InputError


@dataclass(frozen=True)
class Smooth:
    """`samples` noisy points; the clean one is run too, because its tokens meet the gradients."""

    samples: int = 25
    noise: float = 0.1
    seed: int = 0
    prefix: str = "Smooth "

    def __post_init__(self) -> None:
        """Refuse a cloud without points."""
        if self.samples < 1:
            raise InputError(f"a smooth path needs at least one sample, got {self.samples}")

    def weights(self) -> Tensor:
        """The clean point, the first, has no weight of its own.

        >>> Smooth(samples=2).weights()
        tensor([0.0000, 0.5000, 0.5000], dtype=torch.float64)
        """
        w = torch.full((self.samples + 1,), 1 / self.samples, dtype=torch.float64)
        w[0] = 0
        return w

    def at(self, x: Tensor, points: Tensor) -> Tensor:
        """x + σ ε_k, the same noise for the same picture alone or in a batch."""
        spread = x.flatten(1).amax(1) - x.flatten(1).amin(1)
        sigma = self.noise * spread.view(-1, *[1] * (x.dim() - 1))
        return torch.stack([x + sigma * self._noise(x, int(k)) for k in points])

    def _noise(self, x: Tensor, k: int) -> Tensor:
        if k == 0:
            return torch.zeros_like(x[:1])
        generator = torch.Generator().manual_seed(self.seed * 100_003 + k)
        e = torch.randn(x.shape[1:], generator=generator, dtype=torch.float64)
        return e.to(x).unsqueeze(0)

    def velocity(self, h: Tensor, points: Tensor) -> Tensor:
        """The clean tokens."""
        clean = (points == 0).nonzero()
        if len(clean) == 0:
            raise ValueError("the clean point must be run with the noisy ones")
        return h[int(clean[0])].unsqueeze(0).expand_as(h)

    def needs(self, points: list[int]) -> list[int]:
        """The clean point too."""
        return points if points[0] == 0 else [0, *points]

    @property
    def far_end(self) -> int | None:
        """A cloud has no far end."""
        return None
