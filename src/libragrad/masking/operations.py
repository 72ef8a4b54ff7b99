"""The operations of a forward pass, one after the other, however the model spells them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from torch.overrides import TorchFunctionMode

from libragrad.engine.naming import spelling_of
from libragrad.engine.opening import opened
from libragrad.rules.table import RULES

__all__ = ["Operations"]


class Operations(TorchFunctionMode):
    """While it is active, every torch operation passes through `operation`.

    A function that PyTorch writes in Python (multi-head attention) is opened, so that the
    operations inside it pass too, unless it is itself one that has a rule (F.softmax).
    """

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Any, tuple[str, Callable[..., Any] | None]] = {}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        known = self._known.get(func)
        if known is None:
            name = spelling_of(func).name
            known = self._known[func] = (name, None if name in RULES else opened(func))
        name, body = known
        if body is not None:
            with self:
                return body(*args, **(kwargs or {}))
        return self.operation(name, func, args, kwargs or {})

    @abstractmethod
    def operation(
        self, name: str, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the operation called `name` (undressed: `add` for + and torch.add alike)."""
