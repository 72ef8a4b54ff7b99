"""What the pictures need to know of an explanation."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

__all__ = ["Explained"]


class Explained(Protocol):
    """B maps of one method, with the account of what they add up to.

    Anything with these members can be drawn, saved and shown.
    """

    @property
    def map(self) -> Tensor:
        """Signed attributions of patches or pixels, (B, H, W)."""

    @property
    def unattributed(self) -> Tensor:
        """What has no place on the map, (B,): prefix tokens, the biases of a head."""

    @property
    def output(self) -> Tensor:
        """The explained scalars, (B,)."""

    @property
    def completeness_error(self) -> Tensor:
        """output − Σ map − unattributed, (B,); NaN where the method claims no such sum."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The target of each map, as people read it."""

    @property
    def name(self) -> str:
        """The method, as people read it."""

    @property
    def pictures(self) -> Tensor | None:
        """What the model saw, (B, 3, H', W') in [0, 1], or None."""
