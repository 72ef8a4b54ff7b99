"""A batch as the model takes it, and its rows taken apart and repeated along a path."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.engine.inputs import prepare
from libragrad.errors import InputError
from libragrad.rules.call import tensors_in

Given = Tensor | Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True)
class Batch:
    """The arguments of a model, of which every tensor with `size` rows holds one row an input."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    size: int

    @classmethod
    def of(cls, inputs: Given) -> Batch:
        """Check the inputs and copy them, so that nothing of the caller's can change."""
        with torch.inference_mode(False):
            given = prepare(inputs)
        for leaf in given.leaves:
            leaf.requires_grad_(False)
        tensors = [x for x in tensors_in([given.args, given.kwargs]) if x.dim()]
        if not tensors:
            raise InputError("nothing to explain: the inputs hold no tensor with a batch dimension")
        return cls(given.args, given.kwargs, tensors[0].shape[0])

    def rows(self, index: Tensor) -> Batch:
        """Return a batch of these rows, which may repeat."""

        def take(x: Any) -> Any:
            if isinstance(x, Tensor) and x.dim() and x.shape[0] == self.size:
                return x[index.to(x.device)]
            return x

        return Batch(*self._each(take), size=len(index))

    def call(self, model: nn.Module) -> Any:
        """Call the model."""
        return model(*self.args, **self.kwargs)

    def tensors(self) -> list[Tensor]:
        """Return all tensors among the arguments."""
        return [x for x in tensors_in([self.args, self.kwargs]) if x.dim()]

    def seeds(self, seed: int) -> tuple[int, ...]:
        """Return a number for each row that depends on its content and not on its neighbours."""
        rows = self.tensors()[0].detach().to("cpu", torch.float32)
        return tuple(zlib.crc32(row.contiguous().numpy().tobytes(), seed) for row in rows)

    def given(self) -> Any:
        """Return the arguments as one input: a tensor, a tuple, or a dictionary."""
        if self.kwargs:
            return self.kwargs
        return self.args[0] if len(self.args) == 1 else self.args

    def _each(self, change: Callable[[Any], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args = tuple(change(x) for x in self.args)
        return args, {key: change(x) for key, x in self.kwargs.items()}
