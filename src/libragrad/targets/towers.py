"""The two towers of a model that compares images with texts, whatever library it is from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from torch import Tensor

Tokenizer: TypeAlias = Callable[..., Any]
"""From a list of texts to token indices (P, L), or to a dictionary of the text tower's inputs."""


@dataclass(frozen=True)
class Towers:
    """What a prompt needs of a model. Neither function normalises what it returns."""

    image: Callable[..., Tensor]
    """From the model's image inputs to features (B, D)."""
    text: Callable[[Sequence[str]], Tensor]
    """From P texts to features (P, D)."""
