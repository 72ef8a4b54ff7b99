"""Open a Python-level torch function, so that the operations inside it can be seen.

Functions such as F.multi_head_attention_forward or torch.autograd.grad first ask whether anybody
overrides them. While a mode is active the answer is always yes, and they would ask again for ever.
A copy of the function in which the question is answered with no runs its own body: the same code,
hence the same values, now made of operations that the mode sees one by one.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

_QUESTIONS = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


def opened(func: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return a copy of `func` that shows its operations, or None where it is not such a function.

    >>> import torch
    >>> opened(torch.nn.functional.normalize) is not None, opened(torch.add) is None
    (True, True)
    """
    if not isinstance(func, types.FunctionType):
        return None
    names = func.__code__.co_names
    asked = [name for name in _QUESTIONS if name in names and name in func.__globals__]
    if not asked:
        return None
    answers = dict.fromkeys(asked, _nobody)
    copy = types.FunctionType(
        func.__code__,
        {**func.__globals__, **answers},
        func.__name__,
        func.__defaults__,
        func.__closure__,
    )
    copy.__kwdefaults__ = func.__kwdefaults__
    return copy


def _nobody(*_: object) -> bool:
    return False
