"""From a text to the class that it names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence

from libragrad.errors import TargetError

_SHOWN = 8


def short_name(label: str) -> str:
    """Return the first of a label's synonyms.

    >>> short_name("African elephant, Loxodonta africana")
    'African elephant'
    """
    return label.split(",", maxsplit=1)[0].strip()


def find_label(text: str, labels: Sequence[str]) -> int:
    """Return the index of the one label that the text names.

    The text is, in this order and whatever its case: a whole label; one of its synonyms (a label
    lists them with commas); whole words of a synonym; the beginning of a synonym. The first of
    these that fits any class decides, and must fit one class alone.

    >>> labels = ["tusker", "African elephant, Loxodonta africana", "zebra", "zeppelin"]
    >>> [find_label(x, labels) for x in ("Zebra", "loxodonta africana", "elephant", "zep")]
    [2, 1, 1, 3]
    """
    wanted = _plain(text)
    if not wanted:
        raise TargetError("the label is empty: give a class's name or its index")
    synonyms = [[_plain(name) for name in label.split(",")] for label in labels]
    word = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    fits: tuple[Callable[[str], object], ...] = (
        lambda name: name == wanted,
        word.search,
        lambda name: name.startswith(wanted),
    )
    whole = [i for i, label in enumerate(labels) if _plain(label) == wanted]
    for found in (whole, *([i for i, s in enumerate(synonyms) if any(map(f, s))] for f in fits)):
        if len(found) == 1:
            return found[0]
        if found:
            raise TargetError(f"{text!r} is ambiguous: it names {_list(found, labels)}")
    raise TargetError(f"no class is named {text!r}; {_nearest(wanted, synonyms, labels)}")


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("_", " ").split())


def _list(found: Sequence[int], labels: Sequence[str]) -> str:
    shown = ", ".join(f"{short_name(labels[i])!r} ({i})" for i in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"{shown}{more}; give the whole name or the index"


def _nearest(wanted: str, synonyms: Sequence[Sequence[str]], labels: Sequence[str]) -> str:
    classes = {name: i for i, names in enumerate(synonyms) for name in names}
    near = difflib.get_close_matches(wanted, classes, n=3)
    if not near:
        return f"there are {len(labels)} classes, from {labels[0]!r} to {labels[-1]!r}"
    indices = dict.fromkeys(classes[name] for name in near)
    return "the nearest are " + ", ".join(f"{short_name(labels[i])!r} ({i})" for i in indices)
