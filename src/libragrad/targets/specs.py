"""How a caller says which class is meant: besides an index or a label, one of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from torch import Tensor

from libragrad.errors import TargetError


@dataclass(frozen=True)
class Predicted:
    """The class with the largest logit of each image, or with the `rank`-th largest.

    >>> Predicted(rank=2)  # the second choice
    Predicted(rank=2)
    """

    rank: int = 1

    def __post_init__(self) -> None:
        """Refuse a rank that no class has."""
        if self.rank < 1:
            raise TargetError(f"ranks begin at 1 (the predicted class), got rank={self.rank}")


@dataclass(frozen=True)
class Prompt:
    """A text whose similarity to the image is explained, for models with a text tower.

    >>> Prompt("a photo of a spoon").text
    'a photo of a spoon'
    """

    text: str


@dataclass(frozen=True)
class Contrast:
    """Why `a` and not `b`: y = y_a − y_b. Each is an index, a label, a prompt, or a rank.

    >>> Contrast("zebra", "African elephant").b
    'African elephant'
    """

    a: int | str | Tensor | Predicted | Prompt
    b: int | str | Tensor | Predicted | Prompt


WORDS = {"predicted": Predicted(1), "second": Predicted(2)}
"""Texts that name a rank and not a label."""

ClassTarget: TypeAlias = "int | str | Tensor | Predicted | Prompt | Contrast"
"""A target of one image."""

Target: TypeAlias = (
    "ClassTarget | np.ndarray[Any, Any] | Callable[[Any], Tensor] "
    "| Sequence[ClassTarget | Callable[[Any], Tensor]] | None"
)
"""What a target can be. A sequence holds one target an image; None is the predicted class."""
