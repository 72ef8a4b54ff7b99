"""The tables of a results folder, in the paper's layout."""

from __future__ import annotations

import os
from dataclasses import replace
from difflib import get_close_matches

from libragrad.errors import ResultsError
from libragrad.evaluation.formats import FORMATS
from libragrad.evaluation.layout import Layout, lay_out
from libragrad.evaluation.plan_note import PlanNote
from libragrad.evaluation.query import measured
from libragrad.evaluation.store import Store
from libragrad.evaluation.uncertainty import find_uncertainty

__all__ = ["layouts", "plan_note", "table"]


def table(
    folder: str | os.PathLike[str],
    recipe: str | None = None,
    *,
    style: str = "text",
    paper: bool = False,
    uncertainty: str = "standard",
) -> str:
    """The tables of what the folder holds, as text, markdown, latex or html.

    Args:
        folder: the results folder, a path or any URL that fsspec knows.
        recipe: of which recipe; may be left out where the folder holds one.
        style: a key of `FORMATS`.
        paper: whether the published values stand beside ours.
        uncertainty: what the ± is, a key of `UNCERTAINTIES`.
    """
    if style not in FORMATS:
        near = get_close_matches(style, FORMATS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(FORMATS)}"
        raise ValueError(f"no format {style!r}; {hint}")
    made = layouts(folder, recipe, uncertainty)
    return "\n\n".join(FORMATS[style](layout, paper) for layout in made)


def layouts(
    folder: str | os.PathLike[str], recipe: str | None = None, uncertainty: str = "standard"
) -> tuple[Layout, ...]:
    """The tables as data."""
    kind = find_uncertainty(uncertainty)
    store = Store(folder)
    note = plan_note(store, recipe)
    found = measured(store, note.items)
    rows = sum(part.cell.samples for part in found)
    made = [
        layout
        for spec in note.recipe.tables
        for layout in lay_out(spec, note.recipe.cells, found, kind)
    ]
    if rows < note.rows:
        unfinished = f"unfinished: {rows} of {note.rows} rows; run the evaluation again to continue"
        made = [replace(layout, notes=(*layout.notes, unfinished)) for layout in made]
    return tuple(made)


def plan_note(store: Store, recipe: str | None) -> PlanNote:
    """The newest plan of a recipe in that folder."""
    notes = store.plans()
    if not notes:
        raise ResultsError(f"{store.folder} holds no results: run an evaluation into it first")
    if recipe is None:
        if len(notes) > 1:
            raise ResultsError(
                f"{store.folder} holds results of several recipes: say which of {', '.join(notes)}"
            )
        return next(iter(notes.values()))
    if recipe not in notes:
        raise ResultsError(
            f"{store.folder} holds no results of recipe {recipe!r}, only of {', '.join(notes)}"
        )
    return notes[recipe]
