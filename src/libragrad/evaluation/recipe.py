"""A recipe: the cells of a table, as a data file.

A recipe is TOML. Each `[[cells]]` block gives fields of cells; a list stands for all of its
values, and the block for the product of its lists. `[defaults]` hold for all blocks, and with
`[[measures]]` each block is taken once with each of them. `[[tables]]` say how the results are laid
out. Models may go by the paper's short names.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from libragrad.errors import RecipeError
from libragrad.evaluation.cell import FIELDS, MEASUREMENTS, TARGETS, Cell
from libragrad.evaluation.names import PUBLISHED_MODELS
from libragrad.evaluation.score import Score
from libragrad.metrics import METRICS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Recipe", "TableSpec", "load_recipe", "recipe_names"]

_INTEGERS = ("seed", "samples")
_OWN_NAMES: dict[str, Collection[str]] = {
    "metric": MEASUREMENTS,
    "target": TARGETS,
    "profile": ("library", "paper"),
    "output": ("logit", "probability", "contrastive"),
}


@dataclass(frozen=True)
class TableSpec:
    """How results are laid out: methods down, and across what the table compares.

    Attributes:
        title: above the table.
        scores: the numbers.
        across: the field of a cell whose values are the columns, if there is one.
        split: the field of a cell for each value of which there is a table, if there is one.
    """

    title: str
    scores: tuple[Score, ...]
    across: str | None = None
    split: str | None = None


@dataclass(frozen=True)
class Recipe:
    """Cells, and the tables that are made of them."""

    name: str
    summary: str
    cells: tuple[Cell, ...]
    tables: tuple[TableSpec, ...]

    def limited(self, limit: int | None) -> Recipe:
        """The same recipe with samples of at most `limit` images."""
        if limit is None:
            return self
        cells = (replace(cell, samples=min(cell.samples, limit)) for cell in self.cells)
        return replace(self, cells=tuple(cells))


def recipe_names() -> tuple[str, ...]:
    """The recipes that come with the package.

    >>> "quick" in recipe_names()
    True
    """
    entries = (entry.name for entry in files("libragrad.evaluation").joinpath("recipes").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml")))


def load_recipe(name: str, known: Mapping[str, Collection[str]] | None = None) -> Recipe:
    """The recipe of that name, or in that TOML file.

    `known` holds the names that a field of a cell may have, where they can be listed.

    >>> load_recipe("quik")
    Traceback (most recent call last):
        ...
    libragrad.errors.RecipeError: no recipe 'quik'; did you mean 'quick'?
    """
    if name.endswith(".toml"):
        text, source = _read(Path(name)), name
    elif name in recipe_names():
        folder = files("libragrad.evaluation").joinpath("recipes")
        text, source = folder.joinpath(f"{name}.toml").read_text(encoding="utf-8"), name
    else:
        raise RecipeError(_unknown("recipe", name, recipe_names()))
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"recipe {source} is not TOML: {error}") from error
    return _Reader(source, {**_OWN_NAMES, **(known or {})}).recipe(content)


@dataclass(frozen=True)
class _Reader:
    """Turns the content of a TOML file into a recipe; errors name the recipe and the block."""

    source: str
    known: Mapping[str, Collection[str]]

    def recipe(self, content: dict[str, Any]) -> Recipe:
        allowed = ("summary", "defaults", "measures", "cells", "tables")
        self._only("the recipe", content, allowed)
        for part in ("summary", "cells", "tables"):
            if not content.get(part):
                raise RecipeError(f"recipe {self.source} has no {part}")
        name, defaults = Path(self.source).stem, content.get("defaults", {})
        cells = dict.fromkeys(
            cell
            for block in content["cells"]
            for measure in content.get("measures", [{}])
            for cell in self._cells({**defaults, **measure, **block})
        )
        tables = tuple(self._table({"title": name, **block}) for block in content["tables"])
        return Recipe(name, content["summary"], tuple(cells), tables)

    def _cells(self, block: dict[str, Any]) -> Iterator[Cell]:
        self._only("[[cells]]", block, FIELDS)
        lists = {
            name: values if isinstance(values, list) else [values] for name, values in block.items()
        }
        for name, values in lists.items():
            for value in values:
                self._check(name, value)
        for field in ("model", "dataset", "method", "metric"):
            if field not in lists:
                raise RecipeError(f"recipe {self.source}: a [[cells]] block has no {field}")
        for choice in product(*lists.values()):
            fields = dict(zip(lists, choice, strict=True))
            fields["model"] = PUBLISHED_MODELS.get(fields["model"], fields["model"])
            yield Cell(**fields)

    def _table(self, block: dict[str, Any]) -> TableSpec:
        self._only("[[tables]]", block, ("title", "scores", "across", "split"))
        for field in ("across", "split"):
            if block.get(field, "model") not in FIELDS:
                problem = _unknown(f"field of a cell in {field}", block[field], FIELDS)
                raise RecipeError(f"recipe {self.source}: {problem}")
        scores = tuple(self._score(entry) for entry in block.get("scores", ()))
        if not scores:
            raise RecipeError(f"recipe {self.source}: a [[tables]] block has no scores")
        return TableSpec(
            block["title"],
            scores,
            block.get("across"),
            block.get("split"),
        )

    def _score(self, entry: dict[str, Any]) -> Score:
        self._only("scores", entry, ("metric", "labels", "area"))
        for field, names in (
            ("metric", METRICS),
            ("labels", TARGETS),
            ("area", ("trapezoid", "mean")),
        ):
            if field in entry and entry[field] not in names:
                problem = _unknown(field, entry[field], names)
                raise RecipeError(f"recipe {self.source}, scores: {problem}")
        return Score(**entry)

    def _check(self, field: str, value: Any) -> None:
        kind: Any = int if field in _INTEGERS else str
        if not isinstance(value, kind) or (field == "samples" and value < 1):
            wanted = {"samples": "a positive number", "seed": "a whole number"}.get(field, "text")
            raise RecipeError(f"recipe {self.source}: {field} must be {wanted}; got {value!r}")
        names = self.known.get(field)
        if names is not None and value not in names:
            raise RecipeError(f"recipe {self.source}: {_unknown(field, value, names)}")

    def _only(self, where: str, block: dict[str, Any], allowed: Collection[str]) -> None:
        for key in block:
            if key not in allowed:
                problem = _unknown("key", key, allowed)
                raise RecipeError(f"recipe {self.source}, {where}: {problem}")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(f"recipe {path} cannot be read: {error}") from error


def _unknown(kind: str, name: object, names: Collection[str]) -> str:
    near = get_close_matches(str(name), names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
    return f"no {kind} {name!r}; {hint}"
