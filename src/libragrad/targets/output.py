"""What a model returns, in whatever container, as class logits."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from libragrad.errors import TargetError
from libragrad.rules.call import tensors_in
from libragrad.targets.similarity import Similarity


class ClassLogits(NamedTuple):
    """Logits z (B, C), one column a class."""

    z: Tensor
    binary: bool = False
    """Whether they come from one logit: the columns are −z (negative) and z (positive)."""


def main_tensor(output: Any) -> Tensor:
    """Return the tensor that a model's output is about: its logits, else the first there is.

    >>> main_tensor((torch.tensor([3]), torch.ones(1, 2), torch.zeros(1, 9)))
    tensor([[1., 1.]])
    >>> main_tensor({"features": torch.zeros(1, 9), "logits": torch.ones(1, 2)})
    tensor([[1., 1.]])
    """
    for name in ("logits", "pooler_output", "last_hidden_state"):
        found = output.get(name) if isinstance(output, Mapping) else getattr(output, name, None)
        if isinstance(found, Tensor):
            return found
    held = list(output.values()) if isinstance(output, Mapping) else output
    for x in tensors_in(held):
        if x.dtype.is_floating_point:
            return x
    raise TargetError(
        f"the model's output ({type(output).__name__}) holds no floating-point tensor; "
        "give a callable that takes the output and returns one number an image"
    )


def class_logits(output: Any) -> ClassLogits:
    """Return the output as one row of class logits for each image.

    (B, C) is taken as it is, of (B, T, C) the last position, as of a language model. One logit an
    image, (B,) or (B, 1), makes two classes, 0: −z and 1: z.

    >>> class_logits(torch.tensor([[2.0], [-3.0]])).z
    tensor([[-2.,  2.],
            [ 3., -3.]])
    """
    z = main_tensor(output)
    if z.dim() == 3:
        z = z[:, -1]
    if z.dim() == 1:
        z = z[:, None]
    if z.dim() != 2:
        raise TargetError(
            f"the output has the shape {tuple(z.shape)}, which has no class axis (expected "
            "(B, C), (B, T, C) or (B,)): an index does not say which entry is meant; give a "
            "callable, for instance target=lambda y: y[:, 3].mean((1, 2))"
        )
    broken = z.detach().isnan().any(1).nonzero().flatten().tolist()
    if broken:
        raise TargetError(
            f"the model's output is NaN for image(s) {broken}: look for overflow "
            "(half precision?) or uninitialised weights"
        )
    if z.shape[1] == 1 and not isinstance(output, Similarity):
        return ClassLogits(torch.cat([-z, z], 1), binary=True)
    return ClassLogits(z)


def as_leaves(output: Any, leaves: list[Tensor]) -> Any:
    """Return a copy of the output whose floating-point tensors are fresh leaves, and list these."""
    if isinstance(output, Tensor):
        if not output.dtype.is_floating_point:
            return output
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]
    if isinstance(output, Mapping):
        twin: Any = copy.copy(output)
        for key, value in output.items():
            twin[key] = as_leaves(value, leaves)
        return twin
    if isinstance(output, (tuple, list)):
        items = [as_leaves(item, leaves) for item in output]
        return type(output)(*items) if hasattr(output, "_fields") else type(output)(items)
    return output
