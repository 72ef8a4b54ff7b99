"""`libragrad evaluate`: measure what a results folder does not hold yet of a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from libragrad.cli.options import AllowPickle, AsJson, Device

__all__ = ["evaluate"]


def _recipes(incomplete: str) -> list[str]:
    from libragrad.evaluation import recipe_names

    return [name for name in recipe_names() if name.startswith(incomplete)]


def evaluate(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            autocompletion=_recipes,
            help="A recipe of the package, such as quick, or a .toml file.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FOLDER", help="The results folder, a path or a URL."),
    ],
    data: Annotated[
        list[str] | None,
        typer.Option(metavar="DATASET=PATH", help="Where a data set, or its .tsv, lies."),
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL=FILE", help="Weights of a model from a file."),
    ] = None,
    allow_pickle: AllowPickle = False,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most so many pictures a sample.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Processes, or Ray actors.")] = 1,
    batch_size: Annotated[
        int, typer.Option(min=1, metavar="N", help="Pictures that are run at a time.")
    ] = 20,
    device: Device = "auto",
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on a Ray cluster; local starts Ray here."),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try pictures that failed once more.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the cells of a recipe: models × data sets × methods × metrics.

    Stop it whenever you like and start it again: nothing that is finished is
    lost or done twice, and several runs may share one folder. The exit code is
    1 if a row has no result.

    [bold]Examples[/bold]
      libragrad evaluate quick --out results
      libragrad evaluate vit-tiny --out results --data imagenet=/data/imagenet
      libragrad evaluate mine.toml --out s3://bucket/results --ray auto
      libragrad table results --paper
    """
    from libragrad.cli.choices import find_device
    from libragrad.cli.screen import answer, say
    from libragrad.evaluation import KNOWN, LibraryBench, load_recipe, run

    bench = LibraryBench(
        {name: Path(path) for name, path in _pairs(data, "--data")},
        {name: Path(path) for name, path in _pairs(weights, "--weights")},
        allow_pickle,
    )
    try:
        report = run(
            load_recipe(recipe, KNOWN),
            out,
            bench,
            device=str(find_device(device)),
            workers=workers,
            limit=limit,
            batch_size=batch_size,
            ray=ray,
            retry_failed=retry_failed,
        )
    except KeyboardInterrupt as stopped:
        say("stopped: the same line again goes on from here")
        raise typer.Exit(130) from stopped
    if as_json:
        from dataclasses import asdict

        answer(asdict(report))
    else:
        typer.echo(str(report))
    raise typer.Exit(report.exit_code)


def _pairs(given: list[str] | None, option: str) -> list[tuple[str, str]]:
    """The two sides of each NAME=PATH."""
    pairs = [text.partition("=") for text in given or ()]
    for name, equals, path in pairs:
        if not (name and equals and path):
            raise typer.BadParameter(f"{name!r} is not of the form NAME=PATH", param_hint=option)
    return [(name, path) for name, _, path in pairs]
