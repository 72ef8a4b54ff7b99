"""One example of the caller's inputs, and a record of what the model makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.engine.inputs import Inputs
from libragrad.errors import GeometryError
from libragrad.geometry.record import Record, record
from libragrad.rules.call import tensors_in


def first_example(inputs: Any) -> Any:
    """Cut every tensor that is as long as the batch to its first example."""
    first = next(tensors_in(inputs if not isinstance(inputs, Mapping) else dict(inputs)), None)
    if first is None or first.ndim == 0 or first.shape[0] < 2:
        return inputs
    batch = first.shape[0]

    def cut(x: Any) -> Any:
        return x[:1] if isinstance(x, Tensor) and x.ndim and x.shape[0] == batch else x

    if isinstance(inputs, Mapping):
        return {key: cut(x) for key, x in inputs.items()}
    return cut(inputs) if isinstance(inputs, Tensor) else tuple(cut(x) for x in inputs)


def recorded(model: nn.Module, inputs: Inputs) -> tuple[Tensor, Record]:
    """Record a run for the first input, pictures first, on which the output depends."""
    given = [x for x in tensors_in((inputs.args, inputs.kwargs)) if x.dtype != torch.bool]
    for source in sorted(given, key=lambda x: not (x.dtype.is_floating_point and x.ndim > 3)):
        written = record(model, inputs, source)
        if written.output:
            return source, written
    raise GeometryError(
        f"the output of {type(model).__name__} was not seen to depend on any of its inputs; "
        "is it computed by operations that PyTorch can see?"
    )
