"""Less memory: each block is run again in the backward instead of being remembered.

Only the tokens between the blocks are kept, and one block's inside at a time. The numbers are the
same: it is the same forward, run twice.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

from torch import nn
from torch.utils.checkpoint import checkpoint

from libragrad.engine.balanced import balanced
from libragrad.presets import Preset

_ONE_AT_A_TIME = threading.RLock()  # a module has one forward, whatever the number of threads


@contextmanager
def checkpointed(model: nn.Module, paths: Sequence[str], preset: Preset) -> Iterator[None]:
    """Let the modules at these paths run again in the backward, under the same preset.

    Only on this thread; another one that wants the same waits. A module that holds others of them
    is left alone: it would run these a third time.
    """
    modules = dict(model.named_modules())
    with _ONE_AT_A_TIME, ExitStack() as stack:
        for path in dict.fromkeys(paths):
            if path and not any(other.startswith(f"{path}.") for other in paths):
                module = modules[path]
                stack.callback(_restore, module, module.__dict__.get("forward"))
                module.forward = _again(module.forward, preset)
        yield


def _restore(module: nn.Module, own: Any) -> None:
    """Give the module back the forward of its class, or the one that was its own."""
    del module.forward
    if own is not None:
        module.forward = own


def _again(forward: Any, preset: Preset) -> Any:
    thread = threading.get_ident()

    def twice(*args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != thread:
            return forward(*args, **kwargs)
        return checkpoint(
            forward,
            *args,
            use_reentrant=False,
            # Nobody listens to the second run: its biases have been heard in the first.
            context_fn=lambda: (nullcontext(), balanced(preset)),
            **kwargs,
        )

    return twice
