"""`libragrad table`: the tables of a results folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from libragrad.cli.options import AsJson

__all__ = ["table"]


def table(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The results, a path or a URL.")],
    recipe: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of which recipe, if the folder holds several."),
    ] = None,
    style: Annotated[
        Literal["text", "markdown", "latex", "html"], typer.Option(help="How it is written.")
    ] = "text",
    paper: Annotated[
        bool, typer.Option("--paper", help="Put the published numbers beside ours.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to a file instead.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lay out what a results folder holds as the paper does.

    Value ± error and the gain over the plain gradient; the best is bold, the
    second underlined. An unfinished run can be looked at too.

    [bold]Examples[/bold]
      libragrad table results
      libragrad table results --recipe vit-tiny --paper
      libragrad table results --style latex --out table.tex
    """
    from libragrad.cli.screen import answer, plain
    from libragrad.evaluation import layouts
    from libragrad.evaluation import table as written

    if as_json:
        answer(plain(layouts(folder, recipe)))
        return
    text = written(folder, recipe, style=style, paper=paper)
    if out is None:
        typer.echo(text)
    else:
        out.write_text(text + "\n", encoding="utf-8")
        typer.echo(str(out))
