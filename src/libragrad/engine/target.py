"""Which scalar an audit explains: any target, and outputs that are no class logits."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from libragrad.targets.goal import goals
from libragrad.targets.output import main_tensor
from libragrad.targets.scalars import called
from libragrad.targets.specs import Target


def scalars(output: Any, target: Target) -> Tensor:
    """Return the explained scalars, one an example (or one in all, if a callable says so).

    None is each example's largest output, whatever the shape; one dimension is one example.

    >>> import torch
    >>> scalars(torch.tensor([[1.0, 3.0], [5.0, 4.0]]), None)
    tensor([3., 5.])
    >>> scalars(torch.tensor([[1.0, 3.0], [5.0, 4.0]]), torch.tensor([0, 1]))
    tensor([1., 4.])
    """
    if callable(target):
        return called(target, output)
    z = main_tensor(output)
    if target is not None:
        output = z.reshape(1, -1) if z.dim() < 2 else output
        return goals(target, output).scalars(output)
    rows = z.reshape(z.shape[0], -1) if z.dim() > 1 else z.reshape(1, -1)
    return rows.gather(1, rows.detach().argmax(1, keepdim=True)).squeeze(1)
