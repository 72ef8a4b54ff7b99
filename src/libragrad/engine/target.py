"""Which scalar of the model's output is explained, in the simple forms that an audit needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor

from libragrad.errors import TargetError
from libragrad.rules.call import tensors_in

Target: TypeAlias = "int | Tensor | Callable[[Any], Tensor] | None"


def scalars(output: Any, target: Target) -> Tensor:
    """Return the explained scalars, one an example (or one in all, if a callable says so).

    None is each example's largest output; an index or a tensor of indices picks among the last
    dimension (of the last position, for a sequence); a callable gets the model's whole output.

    >>> scalars(torch.tensor([[1.0, 3.0], [5.0, 4.0]]), None)
    tensor([3., 5.])
    >>> scalars(torch.tensor([[1.0, 3.0], [5.0, 4.0]]), torch.tensor([0, 1]))
    tensor([1., 4.])
    """
    if callable(target):
        y = target(output)
        if not isinstance(y, Tensor):
            raise TargetError(f"the target callable returned {type(y).__name__}, not a tensor")
        return y
    out = main_tensor(output)
    out = out if out.dim() else out.reshape(1)
    rows = out.reshape(out.shape[0], -1) if out.dim() > 1 else out.reshape(1, -1)
    if target is None:
        return rows.gather(1, rows.detach().argmax(1, keepdim=True)).squeeze(1)
    classes = out if out.dim() < 3 else out[:, -1] if out.dim() == 3 else None
    if classes is None:
        raise TargetError(
            f"the output has the shape {tuple(out.shape)}: an index does not say which entry is "
            "meant; give a callable, for instance target=lambda y: y[:, 3].mean((1, 2))"
        )
    classes = classes.reshape(-1, classes.shape[-1])
    index = torch.as_tensor(target, device=out.device)
    if index.dtype.is_floating_point or index.dtype == torch.bool:
        raise TargetError(f"a target index must be an integer, not {index.dtype}")
    count = classes.shape[-1]
    if bool((index >= count).any()) or bool((index < -count).any()):
        raise TargetError(f"target {target} is out of range: the output has {count} entries")
    if index.dim() and index.numel() != classes.shape[0]:
        raise TargetError(f"{index.numel()} targets were given for {classes.shape[0]} examples")
    return classes.gather(1, (index % count).expand(classes.shape[0])[:, None]).squeeze(1)


def main_tensor(output: Any) -> Tensor:
    """Return the tensor that a model's output is about: `.logits` if it has one, else the first."""
    for name in ("logits", "pooler_output", "last_hidden_state"):
        found = getattr(output, name, None)
        if isinstance(found, Tensor):
            return found
    values = output.values() if hasattr(output, "values") and not isinstance(output, Tensor) else output
    for x in tensors_in(list(values) if not isinstance(values, (Tensor, tuple, list)) else values):
        if x.dtype.is_floating_point:
            return x
    raise TargetError(f"no floating-point tensor was found in the output ({type(output).__name__})")
