"""`libragrad methods`: the table of methods."""

from __future__ import annotations

from libragrad.cli.options import AsJson

__all__ = ["methods"]


def methods(as_json: AsJson = False) -> None:
    """List the attribution methods, with their formulas and papers.

    The first column is what [bold]--method[/bold] takes.

    [bold]Examples[/bold]
      libragrad methods
      libragrad methods --json
    """
    from libragrad.cli.screen import answer, rows
    from libragrad.methods.table import METHODS

    if as_json:
        answer(
            [
                {
                    "key": method.key,
                    "title": method.title,
                    "formula": method.formula,
                    "citation": method.citation,
                    "preset": None if method.preset is None else method.preset.name,
                    "gradient": method.gradient,
                }
                for method in METHODS.values()
            ]
        )
        return
    rows(
        ("method", "name", "formula", "citation"),
        [(m.key, m.title, m.formula, m.citation) for m in METHODS.values()],
    )
