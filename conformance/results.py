"""The results: one JSON line a case, appended: a run that is killed goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def append(path: Path, row: Row) -> None:
    """Add one row at the end of the file, on a line of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = not path.exists() or not path.read_bytes()[-1:].strip()
    with path.open("a") as file:
        file.write(("" if whole else "\n") + json.dumps(row) + "\n")


def read(path: Path) -> dict[tuple[str, str], Row]:
    """The last row of every case, by (zoo, name); a line cut off by a kill is passed over."""
    rows: dict[tuple[str, str], Row] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            row: Row = json.loads(line)
        except json.JSONDecodeError:
            continue
        rows[row["zoo"], row["name"]] = row
    return rows


def pending(
    cases: Iterable[tuple[str, str]], rows: dict[tuple[str, str], Row], again: Iterable[str] = ()
) -> list[tuple[str, str]]:
    """The cases without a row, and those whose verdict is to be judged `again`."""
    verdicts = set(again)
    return [case for case in cases if case not in rows or rows[case]["verdict"] in verdicts]
