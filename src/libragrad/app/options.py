"""How it is asked: what the controls hold, checked, since anybody can send anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from libragrad.errors import InputError
from libragrad.methods.method import Method
from libragrad.methods.table import METHODS
from libragrad.picture import RECIPES, SCALES, Look
from libragrad.presets import PRESETS, Preset

__all__ = ["OUTPUTS", "Options", "classes_of", "look_of", "text_of"]

T = TypeVar("T")

OUTPUTS: Mapping[str, Literal["logit", "probability"]] = {
    "logit": "logit",
    "probability": "probability",
}


@dataclass(frozen=True)
class Options:
    """The controls that every answer depends on, in their order."""

    methods: tuple[Method, ...]
    preset: Preset
    output: Literal["logit", "probability"]
    recipe: str
    scale: str

    @classmethod
    def read(
        cls, methods: object, preset: object, output: object, recipe: object, scale: object
    ) -> Options:
        """Check what the controls sent.

        >>> Options.read(["genatt"], "Libra", "logit", "paper", "all").methods[0].title
        'GenAtt'
        >>> Options.read(["genatt"], 7, "logit", "paper", "all")
        Traceback (most recent call last):
            ...
        libragrad.errors.InputError: no preset 7: choose one of Standard, Libra, AliLRP, ...
        """
        keys = methods if isinstance(methods, list) else [methods]
        _one_of("recipe", recipe, RECIPES)
        _one_of("scale", scale, SCALES)
        return cls(
            tuple(dict.fromkeys(_one_of("method", key, METHODS) for key in keys)),
            _one_of("preset", preset, PRESETS),
            _one_of("output", output, OUTPUTS),
            str(recipe),
            str(scale),
        )


def look_of(recipe: object, opacity: object) -> Look:
    """How a file is drawn.

    >>> look_of("raw", 1).opacity
    1.0
    """
    _one_of("recipe", recipe, RECIPES)
    if type(opacity) not in (int, float):
        raise InputError(f"opacity is a share between 0 and 1; got {_short(opacity)}")
    return Look(str(recipe), float(str(opacity)))


def classes_of(chosen: object, count: int) -> tuple[int, ...]:
    """The indices of classes, of which there are `count`.

    >>> classes_of([2, 1, 2], 10)
    (2, 1)
    """
    listed = chosen if isinstance(chosen, list) else [chosen]
    for one in listed:
        if type(one) is not int or not 0 <= one < count:
            raise InputError(f"classes are numbers from 0 to {count - 1}; got {_short(one)}")
    return tuple(dict.fromkeys(listed))


def text_of(given: object, most: int) -> str:
    """A text that somebody typed, of at most so many letters.

    >>> text_of("zebra ", 300)
    'zebra'
    """
    if not isinstance(given, str) or len(given) > most:
        raise InputError(f"a text of at most {most} letters is expected: type a shorter one")
    return given.strip()


def _one_of(what: str, name: Any, table: Mapping[str, T]) -> T:
    if not isinstance(name, str) or name not in table:
        raise InputError(f"no {what} {_short(name)}: choose one of {', '.join(table)}")
    return table[name]


def _short(value: object) -> str:
    return repr(value)[:40]
