"""Less memory: each block is run again in the backward instead of being remembered.

Only the tokens between the blocks are kept, and one block's inside at a time. The numbers are the
same: it is the same forward, run twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from torch import nn
from torch.utils.checkpoint import checkpoint

from libragrad.engine.balanced import balanced
from libragrad.presets import Preset


@contextmanager
def checkpointed(model: nn.Module, paths: Sequence[str], preset: Preset) -> Iterator[None]:
    """Let the modules at these paths run again in the backward, under the same preset."""
    modules = dict(model.named_modules())
    changed = [modules[path] for path in dict.fromkeys(paths) if path]
    try:
        for module in changed:
            module.forward = _again(module.forward, preset)
        yield
    finally:
        for module in changed:
            module.__dict__.pop("forward", None)


def _again(forward: Any, preset: Preset) -> Any:
    def twice(*args: Any, **kwargs: Any) -> Any:
        return checkpoint(
            forward,
            *args,
            use_reentrant=False,
            # Nobody listens to the second run: its biases have been heard in the first.
            context_fn=lambda: (nullcontext(), balanced(preset)),
            **kwargs,
        )

    return twice
