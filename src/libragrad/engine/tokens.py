"""Integer inputs, followed to the table in which their embeddings are looked up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor

from libragrad.rules import affine
from libragrad.rules.call import tensors_in
from libragrad.rules.table import RULES

_CARRYING = (affine.linear_map, affine.affine)
_COUNTING = frozenset({"sum", "cumsum", "mean"})
"""These make positions of a mask, and no tokens of tokens."""


class Tokens:
    """The tensors that hold an input's integers, copied, joined, cut or shifted as they may be.

    >>> import torch
    >>> ids = torch.tensor([3, 4])
    >>> tokens, shifted = Tokens([ids]), ids + 1
    >>> tokens.follow("add", (ids, 1), shifted)
    >>> shifted in tokens, ids.clone() in tokens
    (True, False)
    """

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        """Begin with the inputs themselves."""
        # The tensors are kept: memory that is let go may become another tensor's.
        self._known = {_memory(x): x for x in tensors}

    def __contains__(self, x: Tensor) -> bool:
        """Say whether x holds tokens; a view shares the memory of its base."""
        return _memory(x) in self._known

    def follow(self, name: str, given: Any, value: Any) -> None:
        """Hear that an operation made `value` of what was given."""
        if not isinstance(value, Tensor) or not _is_integer(value) or name in _COUNTING:
            return
        if RULES.get(name) in _CARRYING and any(x in self for x in tensors_in(given)):
            self._known[_memory(value)] = value


def _memory(x: Tensor) -> int:
    try:
        return x.untyped_storage().data_ptr()
    except NotImplementedError:  # inside vmap a tensor has no memory of its own
        return 0


def _is_integer(x: Tensor) -> bool:
    return not (x.dtype.is_floating_point or x.dtype.is_complex or x.dtype.itemsize == 1)
