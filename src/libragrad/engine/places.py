"""Where an operation was called: its name and the path of the module that called it."""

from __future__ import annotations

import sys
from types import FrameType
from typing import NamedTuple

from torch import nn


class Place(NamedTuple):
    """An operation and the path of the innermost module around it ('' for the model itself)."""

    operation: str
    module: str

    def __str__(self) -> str:
        """Return `operation at module`."""
        return f"{self.operation} at {self.module or 'the model itself'}"


class Places:
    """Finds module paths by looking at who is calling: no hook, nothing to undo."""

    def __init__(self, model: nn.Module | None) -> None:
        """Remember the path of every module of the model."""
        modules = model.named_modules() if isinstance(model, nn.Module) else ()
        self._paths = {id(module): path for path, module in modules}

    def here(self, operation: str) -> Place:
        """Return the place of the operation that is running now."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            # Only methods can be a module's; looking into every frame's locals would be slow.
            if code.co_argcount and code.co_varnames[0] == "self":
                path = self._paths.get(id(frame.f_locals["self"]))
                if path is not None:
                    return Place(operation, path)
            frame = frame.f_back
        return Place(operation, "")
