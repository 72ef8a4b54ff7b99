"""The state of a model that an explanation must leave as it was."""

from __future__ import annotations

import zlib
from typing import Any

import torch
from torch import Tensor, nn

HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_state_dict_hooks",
)


def snapshot(model: nn.Module) -> dict[str, Any]:
    """Describe `model`: parameters, buffers, flags, gradients, hooks, classes and training states.

    Tensors are described by their bytes' checksum, so that a large model needs no second copy.
    """
    state: dict[str, Any] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        flags = (id(parameter), type(parameter), parameter.requires_grad, parameter.grad is None)
        hooks = len(parameter._backward_hooks or ())
        state[f"parameter {name}"] = (*flags, hooks, _checksum(parameter))
    for name, buffer in model.named_buffers(remove_duplicate=False):
        state[f"buffer {name}"] = (id(buffer), buffer.requires_grad, _checksum(buffer))
    for name, module in model.named_modules(remove_duplicate=False):
        hooks_of = tuple(tuple(getattr(module, kind)) for kind in HOOKS)
        state[f"module {name}"] = (
            type(module),
            module.training,
            hooks_of,
            "forward" in vars(module),
        )
    return state


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Name what differs between two snapshots.

    >>> model = nn.Linear(2, 2)
    >>> before = snapshot(model)
    >>> _ = model.bias.requires_grad_(False)
    >>> changed(before, snapshot(model))
    ['parameter bias']
    """
    return sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def _checksum(tensor: Tensor) -> int:
    if tensor.is_meta or tensor.layout != torch.strided:
        return 0
    data = tensor.detach().contiguous().reshape(-1)
    return zlib.crc32(data.view(torch.uint8).numpy().data) if data.numel() else 0
