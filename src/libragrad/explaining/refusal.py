"""When the model itself cannot take what it is given, say so in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from libragrad.errors import InputError, LibraGradError
from libragrad.explaining.batch import Batch


@contextmanager
def refusals(model: nn.Module, batch: Batch) -> Iterator[None]:
    """Turn an error that the model raises by itself, on these inputs, into an InputError.

    >>> with refusals(nn.Linear(4, 2), Batch.of(torch.zeros(1, 3))):
    ...     raise RuntimeError
    Traceback (most recent call last):
        ...
    libragrad.errors.InputError: the Linear (weights: float32) cannot take an input of shape (1, 3)
    and type float32: RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x3 and 4x2)
    """
    try:
        yield
    except LibraGradError:
        raise
    except Exception as error:
        own = _own_error(model, batch)
        if own is None:
            raise
        name = f"{type(model).__name__}{_weights(model)}"
        given = " and ".join(_described(x) for x in batch.tensors())
        alone = any(x.dim() == 3 and x.is_floating_point() for x in batch.tensors())
        hint = ". One picture needs a batch dimension: inputs[None]" if alone else ""
        said = " ".join(f"{type(own).__name__}: {own}".split())
        raise InputError(f"the {name} cannot take an input of {given}: {said}{hint}") from error


def _own_error(model: nn.Module, batch: Batch) -> Exception | None:
    """Call the model as it is."""
    try:
        with torch.no_grad():
            batch.call(model)
    except Exception as error:
        return error
    return None


def _described(x: Tensor) -> str:
    return f"shape {tuple(x.shape)} and type {_type(x)}"


def _type(x: Tensor) -> str:
    return str(x.dtype).removeprefix("torch.")


def _weights(model: nn.Module) -> str:
    first = next(model.parameters(), None)
    return "" if first is None else f" (weights: {_type(first)})"
