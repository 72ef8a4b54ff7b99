"""The scale operator: weigh a path of the backward pass."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class _Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        # `detach` shares memory without being a view to autograd, so that the result may be
        # changed in place like any other tensor.
        return x.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return g * ctx.factor, None


def scale(x: Tensor, factor: float) -> Tensor:
    """Return x; its gradient is multiplied by `factor`. The result shares the memory of x.

    >>> import torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.grad(scale(x * x, 0.5), x)  # ½ · 2x
    (tensor(3.),)
    """
    if factor == 1 or not x.requires_grad:
        return x
    result: Tensor = _Scale.apply(x, factor)
    return result
