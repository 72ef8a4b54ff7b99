"""What is said of an explained picture: to people in lines, to programs as plain data."""

from __future__ import annotations

from typing import Any

from libragrad.cli.maker import Made
from libragrad.cli.screen import number
from libragrad.explaining.explanation import Explanation

__all__ = ["as_data"]


def as_data(made: Made, file: str | None, *, values: bool) -> dict[str, Any]:
    """A picture's explanations, one entry for each method and target; with `values` their maps."""
    entries = []
    for place, explanation in enumerate(made.explanations):
        for index, label in enumerate(explanation.labels):
            entry = _entry(explanation, index, label)
            if values:
                entry["map"] = explanation.map[index].tolist()
            if made.curves is not None:
                entry["deletion"] = list(made.curves[place][index])
            entries.append(entry)
    return {"picture": made.record.id, "file": file, "explanations": entries}


def _entry(explanation: Explanation, index: int, label: str) -> dict[str, Any]:
    target = explanation.target
    return {
        "method": explanation.settings.method.key,
        "name": explanation.name,
        "target": label,
        "class": None if target is None else int(target[index]),
        "output": float(explanation.output[index]),
        "on_map": float(explanation.map[index].sum()),
        "unattributed": float(explanation.unattributed[index]),
        "completeness_error": number(float(explanation.completeness_error[index])),
    }
