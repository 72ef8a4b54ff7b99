"""A note of what a run set out to do: its recipe and the items that it needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from libragrad.evaluation.address import address, canonical
from libragrad.evaluation.cell import Cell
from libragrad.evaluation.plan import Shard
from libragrad.evaluation.recipe import Recipe, TableSpec
from libragrad.evaluation.score import Score

__all__ = ["PlanNote"]


@dataclass(frozen=True)
class PlanNote:
    """What a results folder knows of a run, so that tables need nothing but the folder.

    Attributes:
        recipe: the recipe as it was run, samples limited.
        items: the addresses of all its items.
        rows: how many rows it has when all is measured.
        started: when the run began, seconds since 1970.
    """

    recipe: Recipe
    items: tuple[str, ...]
    rows: int
    started: float

    @classmethod
    def of(cls, recipe: Recipe, plan: Sequence[Shard], started: float) -> PlanNote:
        """The note of a run."""
        items = sorted({item for shard in plan for item in shard.items})
        return cls(recipe, tuple(items), sum(shard.rows for shard in plan), started)

    @property
    def address(self) -> str:
        """The hash of all but the time: a run that is started again writes the same note."""
        return address({**asdict(self), "started": None})

    def encode(self) -> bytes:
        """As JSON."""
        return canonical(asdict(self)).encode()

    @classmethod
    def decode(cls, data: bytes) -> PlanNote:
        """From JSON."""
        content: dict[str, Any] = json.loads(data)
        parts = content["recipe"]
        cells = tuple(Cell(**cell) for cell in parts["cells"])
        tables = tuple(
            TableSpec(**{**spec, "scores": tuple(Score(**score) for score in spec["scores"])})
            for spec in parts["tables"]
        )
        recipe = Recipe(parts["name"], parts["summary"], cells, tables)
        return cls(recipe, tuple(content["items"]), content["rows"], content["started"])
