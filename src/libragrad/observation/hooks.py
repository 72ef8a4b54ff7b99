"""A forward pre-hook for one call of one module on one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

Enter = Callable[[int, Tensor], "Tensor | None"]


@dataclass
class Entrance:
    """Tells `enter(layer, h)` of the first tensor argument, which it may replace."""

    layer: int
    call: int
    """Which of the module's calls is meant."""
    enter: Enter
    thread: int = field(default_factory=threading.get_ident)
    _seen: int = 0

    def __call__(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Find the tensor among the arguments; other threads and other calls pass."""
        # PyTorch registers a hook before it notes that the hook takes keywords: another thread may
        # call it in between, without them.
        if threading.get_ident() != self.thread or kwargs is None:
            return None
        self._seen += 1
        if self._seen - 1 != self.call:
            return None
        for index, x in enumerate(args):
            if isinstance(x, Tensor):
                instead = self.enter(self.layer, x)
                if instead is None:
                    return None
                return (*args[:index], instead, *args[index + 1 :]), kwargs
        for key, x in kwargs.items():
            if isinstance(x, Tensor):
                instead = self.enter(self.layer, x)
                return None if instead is None else (args, {**kwargs, key: instead})
        return None
