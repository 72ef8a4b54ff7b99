"""Tables of the documents that are made from the library's own tables.

    <!-- table: methods -->

on a page of `docs/` becomes a table when the site is built: MkDocs calls `on_page_markdown`. In
README.md, which nobody builds, a table stands between that line and `<!-- /table -->`;

    python -m docs.tables

writes it anew, and a test compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from typer.testing import CliRunner

from libragrad.cli.application import application
from libragrad.data import DATASETS
from libragrad.evaluation.recipe import load_recipe, recipe_names
from libragrad.masking import MASKS
from libragrad.methods.table import METHODS
from libragrad.metrics import METRICS
from libragrad.models.loading import SOURCES
from libragrad.picture import RECIPES
from libragrad.presets import ABLATIONS, MEANINGS, PRESETS, ROWS, Preset
from libragrad.rules.call import Rule, name_of_rule
from libragrad.rules.table import RULES

ROOT = Path(__file__).parents[1]
_PLACE = re.compile(r"^<!-- table: ([\w-]+) -->$", re.MULTILINE)
_FILLED = re.compile(r"^(<!-- table: ([\w-]+) -->\n).*?(^<!-- /table -->$)", re.MULTILINE | re.S)
_COMPLETE, _NOT_JUDGED = ("ok", "float32 inside"), ("native error", "not built", "skipped", "lost")
_NOT_REACHED = "not reached"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill the tables of a page; the hook of MkDocs."""
    return _PLACE.sub(lambda place: TABLES[place[1]](), markdown)


def refreshed(text: str) -> str:
    """Return README.md's text with its tables made anew."""
    return _FILLED.sub(lambda place: f"{place[1]}{TABLES[place[2]]()}\n{place[3]}", text)


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table. A bar within a cell would be a border: it is replaced by its twin U+2223.

    >>> print(markdown(["a", "b"], [["‖h‖", "|h|"]]))
    | a | b |
    |---|---|
    | ‖h‖ | ∣h∣ |
    """
    cells = [list(head), *([cell.replace("|", "\u2223") for cell in row] for row in rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], "|---" * len(cells[0]) + "|", *lines[1:]])


def _methods() -> str:
    def rows() -> Iterator[list[str]]:
        for method in METHODS.values():
            own = "" if method.preset is None else method.preset.name
            backward = own or ("any preset" if method.gradient else "none needed")
            differs = "differs" if method.paper else ""
            yield [f"`{method.key}`", method.title, f"`{method.formula}`", backward, differs]

    return markdown(["key", "name", "formula", "backward", '`profile="paper"`'], rows())


def _citations() -> str:
    return markdown(["method", "from"], ([m.title, m.citation] for m in METHODS.values()))


def _metrics() -> str:
    rows = (
        [
            f"`{metric.name}`",
            metric.summary,
            "higher" if metric.higher_is_better else "lower",
            metric.unit,
            f"{metric.range[0]:g} … {metric.range[1]:g}",
            metric.citation,
        ]
        for metric in METRICS.values()
    )
    return markdown(["name", "what", "better", "shown in", "range", "from"], rows)


def _presets() -> str:
    return _of_presets({f"`{name}`": preset for name, preset in PRESETS.items()})


def _ablations() -> str:
    return _of_presets(ABLATIONS)


def _of_presets(presets: Mapping[str, Preset]) -> str:
    rows = (
        [name, *(getattr(preset, row).value for row in ROWS)] for name, preset in presets.items()
    )
    return markdown(["preset", *(row.replace("_", " ") for row in ROWS)], rows)


def _treatments() -> str:
    rows = (
        [f"`{row}`", f"`{treatment.name}`", meaning]
        for row, meanings in MEANINGS.items()
        for treatment, meaning in meanings.items()
    )
    return markdown(["row", "treatment", "meaning"], rows)


def _rules() -> str:
    operations: dict[Rule, list[str]] = {}
    for name, rule in RULES.items():
        operations.setdefault(rule, []).append(name)
    rows = (
        [name_of_rule(rule), (rule.__doc__ or "").split("\n")[0], f"`{' '.join(names)}`"]
        for rule, names in operations.items()
    )
    return markdown(["rule", "what", "operations"], rows)


def _sources() -> str:
    rows = ([f"`{s.prefix}:`", s.package, s.summary] for s in SOURCES.values())
    return markdown(["prefix", "package", "what"], rows)


def _datasets() -> str:
    rows = ([f"`{d.name}`", d.summary, d.path, "yes" if d.masks else ""] for d in DATASETS.values())
    return markdown(["name", "what", "path", "masks"], rows)


def _masks() -> str:
    return markdown(["name", "what"], ([f"`{m.name}`", m.summary] for m in MASKS.values()))


def _recipes() -> str:
    rows = ([f"`{name}`", load_recipe(name).summary] for name in recipe_names())
    return markdown(["recipe", "what"], rows)


def _looks() -> str:
    return markdown(["name", "what"], ([f"`{r.name}`", r.summary] for r in RECIPES.values()))


def _conformance() -> str:
    """How many models of each library are complete, counted by `python -m conformance`."""
    head, counts = _verdicts((ROOT / "docs" / "conformance.md").read_text(encoding="utf-8"))
    rows = []
    for column, library in enumerate(head):
        of = {verdict: numbers[column] for verdict, numbers in counts.items()}
        complete = sum(of.get(verdict, 0) for verdict in _COMPLETE)
        left = of.get(_NOT_REACHED, 0)
        judged = sum(of.values()) - left - sum(of.get(verdict, 0) for verdict in _NOT_JUDGED)
        rows.append([library, f"{complete} of {judged}", str(left) if left else ""])
    return markdown(["library", "complete", "not yet judged"], rows)


def _verbs() -> str:
    """The help of each verb of the command line, as it is printed on 80 columns."""
    names = [command.callback.__name__ for command in application.registered_commands]  # type: ignore[union-attr]
    plain = {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1", "TERM": "dumb"}
    pages = []
    for name in names:
        said = CliRunner().invoke(application, [name, "--help"], prog_name="libragrad", env=plain)
        pages.append(f"## {name}\n\n```text\n{said.output.strip()}\n```")
    return "\n\n".join(pages)


def _verdicts(text: str) -> tuple[list[str], dict[str, list[int]]]:
    """The libraries, and for each verdict its number of cases in each of them."""
    table = re.search(r"^\| verdict \|.*?(?=\n\n)", text, re.MULTILINE | re.DOTALL)
    if table is None:
        raise ValueError("docs/conformance.md has no table of verdicts: its writer has changed")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].split("\n")]
    return lines[0][1:-1], {line[0]: [int(n) for n in line[1:-1]] for line in lines[2:]}


TABLES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "ablations": _ablations,
        "citations": _citations,
        "conformance": _conformance,
        "datasets": _datasets,
        "looks": _looks,
        "masks": _masks,
        "methods": _methods,
        "metrics": _metrics,
        "presets": _presets,
        "recipes": _recipes,
        "rules": _rules,
        "sources": _sources,
        "treatments": _treatments,
        "verbs": _verbs,
    }
)
"""Every table by its name."""


if __name__ == "__main__":
    page = ROOT / "README.md"
    page.write_text(refreshed(page.read_text(encoding="utf-8")), encoding="utf-8")
