"""Deletion curves: how the mean falls as tokens are deleted."""

from __future__ import annotations

import os
from pathlib import Path

from libragrad.errors import ResultsError
from libragrad.evaluation.extra import needs
from libragrad.evaluation.names import cell_title, score_title, title
from libragrad.evaluation.query import Measured, measured
from libragrad.evaluation.score import Score, removed_points
from libragrad.evaluation.store import Store
from libragrad.evaluation.tables import plan_note

__all__ = ["plot"]


def plot(
    folder: str | os.PathLike[str],
    to: str | os.PathLike[str],
    recipe: str | None = None,
    *,
    score: Score = Score("mif_accuracy", "predicted"),  # noqa: B008 - it is frozen
) -> Path:
    """Draw the curves behind a deletion score, a panel a model, and write them to a file.

    Args:
        folder: the results folder.
        to: the picture; its suffix says the kind (png, svg, pdf).
        recipe: of which recipe; may be left out where the folder holds one.
        score: mif or lif, accuracy or AOPC, ground truth or predicted.
    """
    with needs("pictures", "a plot"):
        from matplotlib.figure import Figure
    if score.measurement != "deletion" or len(score.definition.takes) != 1:
        raise ValueError(f"a plot draws the curve of a MIF or LIF score; got {score.metric!r}")
    store = Store(folder)
    note = plan_note(store, recipe)
    panels: dict[tuple[str, str], list[Measured]] = {}
    for part in measured(store, note.items):
        if part.cell.metric == "deletion" and part.rows.num_rows:
            panels.setdefault((part.cell.model, part.cell.dataset), []).append(part)
    if not panels:
        raise ResultsError(f"{folder} holds no deletion curves of recipe {note.recipe.name!r}")
    figure = Figure(figsize=(1.5 + 4 * len(panels), 4.5), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for place, (axis, ((model, dataset), parts)) in enumerate(
        zip(axes, panels.items(), strict=True)
    ):
        for part in parts:
            curve = score.curve(part.rows, score.definition.takes[0]).mean(dim=0)
            axis.plot(removed_points(part.rows), curve, label=cell_title(part.cell), marker=".")
        axis.set_title(f"{title(model)}, {title(dataset)}")
        axis.set_xlabel("share of tokens deleted")
        if place == 0:
            axis.set_ylabel(score_title(score.metric, score.labels))
    handles = {
        label: handle
        for axis in axes
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside right center", fontsize="small")
    path = Path(to)
    figure.savefig(path)
    return path
