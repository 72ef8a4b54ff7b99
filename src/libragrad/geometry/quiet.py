"""Look at a model without leaving a trace: hooks for a while, for one thread alone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

from libragrad.engine.original_code import ORIGINAL_CODE

Entering = Callable[[nn.Module, tuple[Any, ...], dict[str, Any]], Any]
Leaving = Callable[[nn.Module, tuple[Any, ...], dict[str, Any], Any], Any]


@contextmanager
def quiet(model: nn.Module) -> Iterator[None]:
    """Without gradients, in evaluation mode, and uncompiled; afterwards all is as it was."""
    training = [module for module in model.modules() if module.training]
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.no_grad())
        if "torch._dynamo" in sys.modules:
            stack.enter_context(ORIGINAL_CODE)
        for module in training:  # dropout would drop tokens, batch norm would learn from the run
            module.training = False
            stack.callback(setattr, module, "training", True)
        yield


@contextmanager
def hooked(
    modules: list[nn.Module], entering: Entering | None = None, leaving: Leaving | None = None
) -> Iterator[None]:
    """Hear this thread's calls of the modules; what the hooks return takes the place of it."""
    thread = threading.get_ident()

    # PyTorch registers a hook before it notes that the hook takes keywords: another thread may call
    # it in between, without them.
    def enter(module: nn.Module, *given: Any) -> Any:
        return entering(module, *given) if entering and _mine(thread) else None

    def leave(module: nn.Module, *given: Any) -> Any:
        return leaving(module, *given) if leaving and _mine(thread) else None

    with ExitStack() as stack:
        for module in modules:
            if entering:
                handle = module.register_forward_pre_hook(enter, with_kwargs=True)
                stack.callback(handle.remove)
            if leaving:
                handle = module.register_forward_hook(leave, with_kwargs=True)
                stack.callback(handle.remove)
        yield


def _mine(thread: int) -> bool:
    return threading.get_ident() == thread
