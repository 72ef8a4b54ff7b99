"""The caller's inputs as the model takes them, with fresh leaves where a gradient is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.errors import InputError, OpaqueModelError
from libragrad.rules.call import tensors_in


@dataclass(slots=True)
class Inputs:
    """The arguments of the model and what of them is explained."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    leaves: list[Tensor]
    """Floating-point inputs: fresh leaves that require a gradient."""
    tokens: list[Tensor]
    """Integer inputs: their embeddings are explained."""

    def call(self, model: nn.Module) -> Any:
        """Call the model. A model may change its input in place, and a leaf would forbid it."""
        passed = {id(x): x * 1 for x in self.leaves}

        def fresh(x: Any) -> Any:
            return passed.get(id(x), x) if isinstance(x, Tensor) else x

        args = tuple(fresh(x) for x in self.args)
        return model(*args, **{key: fresh(x) for key, x in self.kwargs.items()})


def prepare(inputs: Tensor | Sequence[Any] | Mapping[str, Any]) -> Inputs:
    """Copy floating-point tensors to fresh leaves; the caller's own tensors stay as they are."""
    leaves: list[Tensor] = []
    tokens: list[Tensor] = []

    def leaf(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        x = _tracked(x)
        if x.dtype.is_floating_point:
            if bool((x.isnan() | (x == torch.inf)).any()):  # −∞ is what a mask is made of
                raise InputError(
                    "the input holds NaN or infinite values; find them with torch.isnan(inputs)"
                )
            x = x.detach().clone().requires_grad_()
            leaves.append(x)
        elif x.dtype not in (torch.bool,) and not x.dtype.is_complex:
            tokens.append(x)
        return x

    if isinstance(inputs, Tensor):
        args: tuple[Any, ...] = (leaf(inputs),)
        kwargs: dict[str, Any] = {}
    elif isinstance(inputs, Mapping):
        args, kwargs = (), {str(key): leaf(x) for key, x in inputs.items()}
    elif isinstance(inputs, (tuple, list)):
        args, kwargs = tuple(leaf(x) for x in inputs), {}
    else:
        raise InputError(
            f"inputs must be a tensor, a tuple of tensors, or a dictionary of keyword arguments, "
            f"not {type(inputs).__name__}"
        )
    if any(x.numel() == 0 for x in tensors_in([args, kwargs])):
        raise InputError("the batch is empty: there is nothing to explain")
    return Inputs(args, kwargs, leaves, tokens)


def _tracked(x: Tensor) -> Tensor:
    """Copy a tensor that was made in inference mode: autograd would refuse it."""
    return x.clone() if x.is_inference() else x


def original(model: nn.Module) -> nn.Module:
    """Return the module behind torch.compile; refuse a scripted one by name."""
    model = getattr(model, "_orig_mod", model)
    modules = model.named_modules() if isinstance(model, nn.Module) else ()
    for path, module in modules:
        if isinstance(module, torch.jit.ScriptModule):
            raise OpaqueModelError(
                f"{path or 'the model'} is a torch.jit.{type(module).__name__}: its operations "
                "cannot be seen, so no rule can be put on them. Pass the original nn.Module."
            )
    return model
