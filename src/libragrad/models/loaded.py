"""A model with all that is needed to use it: its preprocessing, labels, tokenizer and origin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

import torch
from torch import nn

from libragrad.models.preprocessing import Preprocessing


@dataclass(frozen=True)
class Manifest:
    """What a result must name to be repeated: the model, the weights and the versions.

    `weights` is "pretrained", "built in", or the name of the file that they came from.
    """

    name: str
    library: str
    version: str
    weights: str
    torch: str = torch.__version__


@dataclass(frozen=True)
class LoadedModel:
    """A model in evaluation mode.

    `preprocess` makes its input out of a picture (None for a model of text alone); `labels[k]`
    names output k (None where outputs are no classes); `tokenizer` is that of a model that reads
    text.
    """

    model: nn.Module = field(repr=False)
    manifest: Manifest
    preprocess: Preprocessing | None = field(default=None, repr=False)
    labels: tuple[str, ...] | None = field(default=None, repr=False)
    tokenizer: Callable[..., Any] | None = field(default=None, repr=False)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all parameters and buffers: names, types, shapes and values."""
        return weights_digest(self.model)


def weights_digest(model: nn.Module) -> str:
    """SHA-256 over the state of `model`, in the order of its names.

    >>> first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    >>> _ = second.load_state_dict(first.state_dict())
    >>> weights_digest(first) == weights_digest(second)
    True
    """
    sha = sha256()
    for name, tensor in sorted(model.state_dict().items()):
        if isinstance(tensor, torch.Tensor):
            values = tensor.detach().cpu().contiguous()
            sha.update(f"{name} {values.dtype} {tuple(values.shape)}\n".encode())
            sha.update(values.reshape(-1).view(torch.uint8).numpy().data)
    return sha.hexdigest()
