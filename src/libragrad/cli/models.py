"""`libragrad models`: where models come from, and their names."""

from __future__ import annotations

from fnmatch import fnmatchcase
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from libragrad.cli.options import AsJson

if TYPE_CHECKING:
    from libragrad.models.loading import Source

__all__ = ["models"]


def models(
    pattern: Annotated[
        str | None,
        typer.Argument(metavar="[PATTERN]", help="A part of the name, or a pattern with *."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the models that can be loaded by name.

    Only those of installed packages, and with published weights. Of
    transformers any model of the hub can be named, and none is listed.

    [bold]Examples[/bold]
      libragrad models
      libragrad models deit3
      libragrad models 'tv:vit_*'
      libragrad models '*' --json
    """
    from libragrad.cli.screen import answer, rows, say
    from libragrad.models.loading import SOURCES

    names = [] if pattern is None else _matching(pattern, list(SOURCES.values()))
    if as_json:
        sources = [
            {
                "prefix": source.prefix,
                "package": source.package,
                "installed": find_spec(source.package) is not None,
                "summary": source.summary,
            }
            for source in SOURCES.values()
        ]
        answer({"sources": sources, "models": names})
        return
    if pattern is None:
        rows(
            ("prefix", "package", "installed", "what"),
            [
                (f"{s.prefix}:", s.package, "yes" if find_spec(s.package) else "no", s.summary)
                for s in SOURCES.values()
            ],
        )
        say("\nlibragrad models PATTERN lists names; '*' lists all")
        return
    for name in names:
        typer.echo(name)
    if not names:
        say(f"no model matches {pattern!r}")
        raise typer.Exit(1)


def _matching(pattern: str, sources: list[Source]) -> list[str]:
    """The names that match, of the one source that a prefix names, or of all."""
    prefix, colon, _ = pattern.partition(":")
    own = [source for source in sources if colon and source.prefix == prefix]
    wanted = pattern if any(sign in pattern for sign in "*?[") else f"*{pattern}*"
    return [
        name
        for source in own or sources
        if find_spec(source.package) is not None
        for name in _names(source)
        if fnmatchcase(name.lower(), wanted.lower())
    ]


def _names(source: Source) -> list[str]:
    prefix = "" if source.prefix == "timm" else f"{source.prefix}:"
    return [prefix + name for name in source.names()]
