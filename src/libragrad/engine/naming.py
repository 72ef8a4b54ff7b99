"""One name for one operation, however the model spells it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Spelling(NamedTuple):
    """An operation's undressed name, and whether this spelling of it changes its first argument."""

    name: str
    in_place: bool


_IN_PLACE_DUNDERS = frozenset(
    f"__i{name}__"
    for name in "add sub mul matmul truediv div pow floordiv mod and or xor lshift rshift".split()
) | {"__setitem__"}
_ALIASES = {
    "truediv": "div",
    "radd": "add",
    "rmul": "mul",
    "mod": "fmod",
    "floordiv": "floor_divide",
}


def spelling_of(func: Callable[..., Any]) -> Spelling:
    """Undress a function as a torch function mode receives it.

    >>> spelling_of(torch.Tensor.__iadd__), spelling_of(torch.relu_)
    (Spelling(name='add', in_place=True), Spelling(name='relu', in_place=True))
    >>> spelling_of(torch.ops.aten.mul.Tensor).name, spelling_of(torch.Tensor.T.__get__).name
    ('mul', 'T')
    """
    name = getattr(func, "__name__", type(func).__name__)
    if isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        space, name = str(func).split("::" if "::" in str(func) else ".")[:2]
        if space != "aten":
            return Spelling(f"{space}::{name}", name.endswith("_"))
    if name == "__get__":
        return Spelling(getattr(func, "__self__", func).__name__, in_place=False)
    if name in _IN_PLACE_DUNDERS:
        bare = name.strip("_")
        bare = bare if bare == "setitem" else bare[1:]
        return Spelling(_ALIASES.get(bare, bare), in_place=True)
    if name.startswith("__") and name.endswith("__"):
        bare = name.strip("_")
        return Spelling(_ALIASES.get(bare, bare), in_place=False)
    in_place = name.endswith("_")
    bare = name.rstrip("_")
    return Spelling(_ALIASES.get(bare, bare), in_place)
