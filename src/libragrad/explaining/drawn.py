"""What an explanation can do with itself: be shown, saved, and read in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Drawn(ABC):
    """Something that is a sheet of maps. Drawing needs the extra `pictures`."""

    @abstractmethod
    def drawn(self) -> Sequence[Any]:
        """Return the explanations of the sheet, one a method."""

    def show(self, recipe: str = "paper", **options: Any) -> None:
        """Show in the notebook, or in the terminal as well as it can.

        `recipe` is "paper", "signed", "absolute" or "raw"; the options are those of
        `libragrad.picture.show`.
        """
        from libragrad import picture

        picture.show(self._sheet(), picture.Look(recipe=recipe), **options)

    def save(self, path: str | Path, recipe: str = "paper", values: bool = False) -> Path:
        """Write the file that the suffix of the path asks for, and return the path.

        A picture (.png, .svg), a page that answers to the pointer (.html), or, of one explanation,
        the numbers with their manifest (.npz).
        """
        from libragrad import picture

        look = picture.Look(recipe=recipe, values=values)
        return picture.save(self._sheet(), path, look, also=self._numbers())

    def _repr_html_(self) -> str:
        from libragrad import picture

        sheet = self._sheet()
        return picture.framed(picture.page(sheet), ", ".join(e.name for e in self.drawn()))

    def _sheet(self) -> Any:
        from libragrad import picture

        return picture.sheet(self.drawn())

    def _numbers(self) -> dict[str, Any]:
        return {}
