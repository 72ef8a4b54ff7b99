"""The context manager `balanced`: within it every model and every backward follows a preset."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from types import TracebackType

from torch.overrides import _get_current_function_mode_stack

from libragrad.engine.listener import Listener
from libragrad.engine.mode import BalancedMode
from libragrad.engine.original_code import ORIGINAL_CODE
from libragrad.presets import LIBRA, Preset


class balanced:  # noqa: N801 - a context manager reads like a verb
    """Put a preset on every model called inside; forward values stay bit for bit the same.

    It may be nested (the innermost preset counts), entered again, and shared by threads: each
    thread that enters it has its own. Outside, nothing has changed. The backward may run outside,
    unless a part of the model is checkpointed: that part runs once more in the backward.

    >>> import torch
    >>> layer = torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.GELU())
    >>> x = torch.randn(2, 4, dtype=torch.double, requires_grad=True)
    >>> layer = layer.double()
    >>> with balanced():
    ...     y = layer(x).sum()
    >>> (g,) = torch.autograd.grad(y, x)
    >>> bool(torch.isclose((g * x).sum(), y))  # β = 0 here: input × gradient is all of y
    True
    """

    def __init__(self, preset: Preset = LIBRA, *, listener: Listener | None = None) -> None:
        """Remember the preset; nothing happens until `with`."""
        self.preset = preset
        self.listener = listener
        self._own = threading.local()

    def __enter__(self) -> BalancedMode:
        """Enter, and return the mode of this entry."""
        entries: list[ExitStack] = self._own.__dict__.setdefault("entries", [])
        with ExitStack() as stack:
            mode = BalancedMode(self.preset, self.listener)
            for outer in _get_current_function_mode_stack():
                if isinstance(outer, BalancedMode):
                    outer.paused += 1
                    stack.callback(_resume, outer)
            if "torch._dynamo" in sys.modules:
                stack.enter_context(ORIGINAL_CODE)
            stack.enter_context(mode)
            entries.append(stack.pop_all())
        return mode

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave, and leave nothing behind."""
        self._own.entries.pop().close()


def _resume(mode: BalancedMode) -> None:
    mode.paused -= 1
