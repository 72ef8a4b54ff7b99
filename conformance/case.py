"""What a zoo hands to the judge: a model, its inputs, and what there is to know about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

Inputs = Tensor | tuple[Any, ...] | dict[str, Any]


class Skipped(Exception):
    """A case that is not judged, with the reason: too large for the budget, nothing to explain."""


@dataclass
class Subject:
    """A built model in evaluation mode, not yet randomised, with float32 inputs.

    It is judged in `dtype`; if that is not float64, `note` says why.
    """

    model: nn.Module
    inputs: Inputs
    note: str = ""
    dtype: torch.dtype = torch.float64


class Zoo(Protocol):
    """A module with a list of names and a way to build each of them."""

    def names(self) -> list[str]:
        """Return the names of the cases, in the order in which they are judged."""

    def build(self, name: str) -> Subject:
        """Build one case at random weights. May raise `Skipped`."""
