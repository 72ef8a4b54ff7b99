"""How a sheet is drawn."""

from __future__ import annotations

from dataclasses import dataclass

from libragrad.errors import InputError
from libragrad.picture.recipe import Recipe, find_recipe

__all__ = ["PAPER", "Look"]


@dataclass(frozen=True)
class Look:
    """The recipe by name, how much of the colours covers the picture, and values on the patches.

    >>> Look(opacity=1.2)
    Traceback (most recent call last):
        ...
    libragrad.errors.InputError: opacity is a share between 0 and 1; got 1.2
    """

    recipe: str = "paper"
    opacity: float = 0.65
    values: bool = False

    def __post_init__(self) -> None:
        find_recipe(self.recipe)
        if not 0 <= self.opacity <= 1:
            raise InputError(f"opacity is a share between 0 and 1; got {self.opacity}")

    @property
    def how(self) -> Recipe:
        """The recipe of that name."""
        return find_recipe(self.recipe)


PAPER = Look()
"""The paper's recipe, as an overlay."""
