"""Why a case is not complete, in a sentence: by operation, else what the audit saw."""

from __future__ import annotations

from conformance.results import Row

KNOWN: dict[str, str] = {}
"""Operations that cannot balance, and why."""

AUTOGRAD_FUNCTION = "Backward"
"""What PyTorch adds to the name of a hand-written function, for its backward."""


def reason(row: Row) -> str:
    """The reason for a row that is not complete.

    >>> leak = {"verdict": "leak", "leaks": [["median", "pool", 1.0]]}
    >>> reason({**leak, "unknown": ["median at pool"]})
    'no rule for median: PyTorch keeps its own gradient'
    >>> reason({"verdict": "leak", "leaks": [["RoundBackward", "pool", 1.0]]})
    'a hand-written autograd function: PyTorch shows nobody the operations inside it'
    """
    if row["verdict"] == "constant":
        return "it returns probabilities alone, and a softmax is constant: all of it is one bias"
    if row["verdict"] != "leak":
        return str(row.get("detail", ""))
    if not row.get("leaks"):
        return "the audit names no operation"
    operation = row["leaks"][0][0]
    if operation in KNOWN:
        return KNOWN[operation]
    if AUTOGRAD_FUNCTION in operation:
        return "a hand-written autograd function: PyTorch shows nobody the operations inside it"
    if any(operation in place for place in row.get("unknown", ())):
        return f"no rule for {operation}: PyTorch keeps its own gradient"
    return f"the rule for {operation} does not balance here"
