"""Tables as text, Markdown, LaTeX and HTML: value ± error, gain; best bold, second underlined."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from libragrad.evaluation.entry import Entry
from libragrad.evaluation.layout import Layout

__all__ = ["FORMATS"]

_NOTHING = "–"


def _text(layout: Layout, paper: bool) -> str:
    """Columns of equal width; ¹ is the best of a column, ² the second."""
    grid = _grid(layout, paper, ("{}", "{} ¹", "{} ²"))
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in grid
    ]
    rule = "─" * max(map(len, lines))
    return "\n".join([layout.title, "", lines[0], rule, *lines[1:], rule, *layout.notes])


def _markdown(layout: Layout, paper: bool) -> str:
    head, *lines = _grid(layout, paper, ("{}", "**{}**", "<u>{}</u>"))
    align = [":---", *("---:" for _ in head[1:])]
    table = ["| " + " | ".join(line) + " |" for line in (head, align, *lines)]
    notes = ["", "  \n".join(layout.notes)] if layout.notes else []
    return "\n".join([f"**{layout.title}**", "", *table, *notes])


def _latex(layout: Layout, paper: bool) -> str:
    marks = ("{}", r"\textbf{{{}}}", r"\underline{{{}}}")
    head, *lines = _grid(layout, paper, marks, _latex_words)
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_latex_words(layout.title)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
            r"\toprule",
            " & ".join(head) + r" \\",
            r"\midrule",
            *(" & ".join(line) + r" \\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"% {note}" for note in layout.notes),
            r"\end{table}",
        ]
    )


def _html(layout: Layout, paper: bool) -> str:
    head, *lines = _grid(layout, paper, ("{}", "<b>{}</b>", "<u>{}</u>"), html.escape)
    return "\n".join(
        [
            "<table>",
            f"<caption>{html.escape(layout.title)}</caption>",
            "<thead><tr>" + "".join(f'<th scope="col">{name}</th>' for name in head),
            "</tr></thead>",
            "<tbody>",
            *(
                f'<tr><th scope="row">{name}</th>'
                + "".join(f"<td>{cell}</td>" for cell in cells)
                + "</tr>"
                for name, *cells in lines
            ),
            "</tbody>",
            "</table>",
            *(f"<p>{html.escape(note)}</p>" for note in layout.notes),
        ]
    )


FORMATS: Mapping[str, Callable[[Layout, bool], str]] = MappingProxyType(
    {"text": _text, "markdown": _markdown, "latex": _latex, "html": _html}
)
"""From a layout, with the paper's numbers beside ours or without, to a text in that format."""


def _grid(
    layout: Layout,
    paper: bool,
    marks: tuple[str, str, str],
    escape: Callable[[str], str] = str,
) -> Sequence[Sequence[str]]:
    """All cells as words, line by line; `marks` are for no rank, for the best, for the second."""
    head = ["method"]
    for column in layout.columns:
        head += [column, "paper"] if paper else [column]
    grid = [[escape(words) for words in head]]
    for line in layout.lines:
        cells = [escape(line.name)]
        for entry in line.entries:
            cells.append(marks[entry.rank or 0].format(escape(_ours(entry))))
            if paper:
                cells.append(escape(_printed(entry)))
        grid.append(cells)
    return grid


def _ours(entry: Entry) -> str:
    if entry.ours is None:
        return _NOTHING
    value, error = entry.ours.value, entry.ours.standard_error
    words = _number(value)
    if not math.isnan(error):
        # Equal numbers differ from their mean by rounding alone.
        words += f" ± {_number(error if error > 1e-12 * abs(value) else 0.0)}"
    if entry.gain is not None:
        words += f" ({entry.gain:+.0f} %)"
    return words


def _printed(entry: Entry) -> str:
    return f"{entry.paper.value:.1f} ± {entry.paper.bound:.1f}" if entry.paper else _NOTHING


def _number(value: float) -> str:
    """One decimal, as the paper prints; what that would hide, with two digits.

    >>> _number(81.66), _number(0.0), _number(3.14e-7)
    ('81.7', '0.0', '3.1e-07')
    """
    return f"{value:.1f}" if value == 0 or abs(value) >= 0.05 else f"{value:.1e}"


def _latex_words(words: str) -> str:
    special = {
        "&": r"\&",
        "%": r"\%",
        "_": r"\_",
        "#": r"\#",
        "±": r"$\pm$",
        "×": r"$\times$",
        "–": "--",
    }
    return "".join(special.get(letter, letter) for letter in words)
