"""A row of a table by its name, and a helpful answer where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

from libragrad.errors import InputError

__all__ = ["choose"]

Row = TypeVar("Row")


def choose(kind: str, name: str, table: Mapping[str, Row]) -> Row:
    """The row of that name.

    >>> choose("recipe", "signd", {"paper": 0, "signed": 1})
    Traceback (most recent call last):
        ...
    libragrad.errors.InputError: no recipe 'signd'; did you mean 'signed'?
    >>> choose("recipe", "x", {"paper": 0, "signed": 1})
    Traceback (most recent call last):
        ...
    libragrad.errors.InputError: no recipe 'x'; there are paper, signed
    """
    if name in table:
        return table[name]
    near = get_close_matches(name, table, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(table)}"
    raise InputError(f"no {kind} {name!r}; {hint}")
