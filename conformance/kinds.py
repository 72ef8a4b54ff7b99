"""The kinds of operation that a report counts: one for each file of `libragrad/rules`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from libragrad.rules.call import name_of_rule
from libragrad.rules.table import RULES

KINDS = (
    "affine",
    "normalisation",
    "activation",
    "attention",
    "product",
    "division",
    "secant",
    "positions",
    "compound",
)


def kinds() -> dict[str, str]:
    """The kind of every rule, by the name under which an audit counts it.

    >>> kinds()["layer norm"], kinds()["gate × value"]
    ('normalisation', 'product')
    """
    finer = {
        "attention (fused)": "attention",
        "attention (explicit)": "attention",
        "product with a constant": "product",
        "gate × value": "product",
        "value × value": "product",
    }
    files = {name_of_rule(rule): rule.__module__.rsplit(".", 1)[-1] for rule in RULES.values()}
    return {**files, **finer}


def by_kind(operations: Mapping[str, int]) -> Counter[str]:
    """Add up the operations of an account by kind.

    >>> by_kind({"layer norm": 2, "rms norm": 1, "affine": 3})
    Counter({'normalisation': 3, 'affine': 3})
    """
    known = kinds()
    counts: Counter[str] = Counter()
    for rule, count in operations.items():
        counts[known[rule]] += count
    return counts
