"""The verbs, in the order of their help."""

from __future__ import annotations

from typing import Annotated

import typer

from libragrad.cli.app import app
from libragrad.cli.audit import audit
from libragrad.cli.doctor import doctor
from libragrad.cli.evaluate import evaluate
from libragrad.cli.explain import explain
from libragrad.cli.group import Verbs
from libragrad.cli.methods import methods
from libragrad.cli.models import models
from libragrad.cli.plot import plot
from libragrad.cli.table import table

__all__ = ["application"]

application = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
"""All of `libragrad`."""


def _print_version(asked: bool) -> None:
    if asked:
        from libragrad import __version__

        typer.echo(f"libragrad {__version__}")
        raise typer.Exit


@application.callback()
def libragrad(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show an error's traceback; works after a verb too."),
    ] = False,
) -> None:
    """Explain why a transformer answered as it did, in maps that add up to the answer.

    [bold]Begin[/bold]
      libragrad explain zebra.jpg                  in the terminal
      libragrad explain zebra.jpg --out zebra.png  as a file
      libragrad explain -m builtin:mosaic builtin:mosaic-000
                                                   without any network
      libragrad doctor                             what is missing here

    [bold]Exit codes[/bold]
      0 done; 1 something failed, and a sentence says what;
      2 wrong usage; 130 stopped by Ctrl-C
    """


for verb in (explain, audit, evaluate, table, plot, methods, models, app, doctor):
    application.command()(verb)
