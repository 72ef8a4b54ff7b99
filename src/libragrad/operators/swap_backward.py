"""SwapBackward: the value of one function, the gradient of another (both forms of the paper)."""

from typing import Any

import torch
from torch import Tensor

from libragrad.operators.constant import constant


class _SwapBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, surrogate: Tensor) -> Tensor:
        return value.detach()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[None, Tensor]:
        return None, g


def swap_backward(value: Tensor, surrogate: Tensor) -> Tensor:
    """Return `value`, bit for bit, with the gradient of `surrogate` (the custom-backward form).

    >>> import torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> y = swap_backward(x.exp(), 2 * x)
    >>> bool(y == x.exp()), torch.autograd.grad(y, x)
    (True, (tensor(2.),))
    """
    result: Tensor = _SwapBackward.apply(value, surrogate)
    return result


def swap_backward_by_duality(value: Tensor, surrogate: Tensor) -> Tensor:
    """Return [value]const + (surrogate − [surrogate]const): the same in plain arithmetic.

    It needs no custom backward. Value and gradient are those of `swap_backward` for every finite
    surrogate, because the bracket is exactly zero.

    >>> import torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> y = swap_backward_by_duality(x.exp(), 2 * x)
    >>> bool(y == x.exp()), torch.autograd.grad(y, x)
    (True, (tensor(2.),))
    """
    return constant(value) + (surrogate - constant(surrogate))
