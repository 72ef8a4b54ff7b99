"""`libragrad plot`: the deletion curves of a results folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from libragrad.cli.options import AsJson

__all__ = ["plot"]


def plot(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The results, a path or a URL.")],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="The picture: .png, .svg or .pdf."),
    ],
    recipe: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of which recipe, if the folder holds several."),
    ] = None,
    metric: Annotated[
        Literal["mif_accuracy", "mif_aopc", "lif_accuracy", "lif_aopc"],
        typer.Option(help="Most or least influential first; what is drawn of the predictions."),
    ] = "mif_accuracy",
    labels: Annotated[
        Literal["label", "predicted"], typer.Option(help="What predictions are held against.")
    ] = "predicted",
    as_json: AsJson = False,
) -> None:
    """Draw how predictions fall as tokens are deleted, a curve a method and a panel a model.

    [bold]Examples[/bold]
      libragrad plot results --out curves.svg
      libragrad plot results --out curves.png --metric lif_aopc --labels label
    """
    from libragrad.cli.screen import answer
    from libragrad.evaluation import Score
    from libragrad.evaluation import plot as drawn

    file = drawn(folder, out, recipe, score=Score(metric, labels))
    if as_json:
        answer({"file": str(file)})
    else:
        typer.echo(str(file))
