"""Why a case is not complete, in a sentence: by operation, else what the audit saw."""

from __future__ import annotations

from typing import Any

KNOWN: dict[str, str] = {}


def reason(row: dict[str, Any]) -> str:
    """The reason for a row that is not complete.

    >>> reason(
    ...     {"verdict": "leak", "leaks": [["median", "pool", 1.0]], "unknown": ["median at pool"]}
    ... )
    'no rule for median: PyTorch keeps its own gradient'
    """
    if row["verdict"] != "leak":
        return str(row.get("detail", ""))
    if not row.get("leaks"):
        return "the audit names no operation"
    operation = row["leaks"][0][0]
    if operation in KNOWN:
        return KNOWN[operation]
    if any(operation in place for place in row.get("unknown", ())):
        return f"no rule for {operation}: PyTorch keeps its own gradient"
    return f"the rule for {operation} does not balance here"
