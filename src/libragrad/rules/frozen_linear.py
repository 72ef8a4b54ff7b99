"""A linear layer whose weights are constants: its backward is one product, or less than one.

∂x = g W. Where attention sends no gradient to Q and K, two thirds of the gradient of a joint QKV
projection are exactly zero, and so are the rows of W that they would meet: they are left out. This
changes no number (0 · w = 0) and saves a sixth of a block's backward.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from libragrad.operators import constant

_WORTH_A_LOOK = 1 / 4  # of the entries of one row of g


class FrozenLinear(torch.autograd.Function):
    """y = x Wᵀ + b, saving nothing but W."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, run: Callable[[], Tensor]) -> Tensor:
        """Run the layer as PyTorch does."""
        ctx.save_for_backward(weight)
        ctx.dtype = x.dtype
        return constant(run())  # of a batch of rows it is a view, which a model could not change

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        """Return g W, over the columns of g that are not zero throughout."""
        (weight,) = ctx.saved_tensors
        weight = weight.to(g.dtype)
        used = _used_columns(g)
        if used is not None:
            g, weight = g[..., used], weight[used]
        return (g @ weight).to(ctx.dtype), None, None


def _used_columns(g: Tensor) -> slice | None:
    """Return the span of columns outside which g is zero, or None if it is not worth the trouble.

    >>> _used_columns(torch.tensor([[0.0, 0.0, 3.0, 1.0], [0.0, 0.0, 0.0, 5.0]]))
    slice(2, 4, None)
    """
    if g.device.type != "cpu" or g.dim() < 2 or g.numel() == 0:
        return None  # elsewhere the question itself would make the processor wait
    rows = g.reshape(-1, g.shape[-1])
    if int((rows[0] == 0).sum()) < _WORTH_A_LOOK * rows.shape[1]:
        return None
    used = (rows != 0).any(0).nonzero()
    if len(used) == 0:
        return slice(0, 0)
    return slice(int(used[0]), int(used[-1]) + 1)
