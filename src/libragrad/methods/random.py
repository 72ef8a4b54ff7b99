"""Random: a number in [0, 1) for each token. What every method must beat."""

from __future__ import annotations

from typing import final

import torch

from libragrad.methods.method import Method
from libragrad.observation.events import Tally
from libragrad.observation.observer import Observer


@final
class Random(Observer):
    """Draws from each row's own seed, so that a picture gets the same map in every batch."""

    def result(self) -> Tally:
        """Draw."""
        for row, seed in enumerate(self.scene.seeds):
            generator = torch.Generator().manual_seed(seed)
            drawn = torch.rand(self.scene.tokens, generator=generator, dtype=torch.float64)
            self.tokens[row] = drawn.to(self.tokens)
        return self.tokens, self.rest


RANDOM = Method(
    key="random",
    title="Random",
    formula="uniform in [0, 1), seeded",
    citation="the baseline",
    observer=Random,
    gradient=False,
)
