"""Weights from a file: read without running code, and put into a model that they fit exactly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.errors import ModelError
from libragrad.models import safetensors

_WRAPPINGS = ("state_dict", "model_state_dict", "model")


def read_weights(path: Path, *, allow_pickle: bool = False) -> dict[str, Tensor]:
    """The tensors of a safetensors file or of a PyTorch checkpoint, by name.

    A checkpoint is read by PyTorch's restricted reader. One that needs more than tensors can run
    any code when it is loaded, so that is done only with `allow_pickle`. Weights may lie under
    `state_dict`, `model_state_dict` or `model`, and under the `module.` of a parallel training.
    """
    if not path.is_file():
        raise ModelError(f"the weights {path} do not exist: check the path")
    if _is_safetensors(path):
        try:
            return safetensors.read(path)
        except ValueError as error:
            raise ModelError(str(error)) from error
    return _tensors(_checkpoint(path, allow_pickle), path)


def put_weights(model: nn.Module, weights: Mapping[str, Tensor], path: Path, name: str) -> None:
    """Load `weights` into `model`; a `ModelError` lists what is missing, left over or misshapen."""
    own = {key: tuple(t.shape) for key, t in model.state_dict().items() if isinstance(t, Tensor)}
    given = {key: tuple(t.shape) for key, t in weights.items()}
    wrong = [
        f"{key} is {list(given[key])} where {list(own[key])} is needed"
        for key in own
        if key in given and own[key] != given[key]
    ]
    complaints = [
        _some("missing", [key for key in own if key not in given]),
        _some("unexpected", [key for key in given if key not in own]),
        _some("of another shape", wrong),
    ]
    if any(complaints):
        reasons = "; ".join(complaint for complaint in complaints if complaint)
        raise ModelError(f"{path} does not fit {name}: {reasons}")
    model.load_state_dict(weights, strict=True)


def _is_safetensors(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(9)
    return path.suffix == ".safetensors" or start[8:] == b"{"


def _checkpoint(path: Path, allow_pickle: bool) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=not allow_pickle)
    except UnpicklingError as error:
        if allow_pickle or "weights_only" not in str(error):
            raise ModelError(f"{path} is no sound checkpoint: get it again") from error
        raise ModelError(
            f"{path} holds more than tensors, and loading it can run any code: convert it to "
            "safetensors, or allow the pickle if you trust where it comes from"
        ) from error
    except Exception as error:  # whatever broken bytes make of it
        raise ModelError(f"{path} is no sound checkpoint ({error}): get it again") from error


def _tensors(checkpoint: Any, path: Path) -> dict[str, Tensor]:
    if isinstance(checkpoint, nn.Module):
        checkpoint = checkpoint.state_dict()
    for key in _WRAPPINGS:
        if isinstance(checkpoint, Mapping) and isinstance(checkpoint.get(key), Mapping):
            checkpoint = checkpoint[key]
    if not isinstance(checkpoint, Mapping) or not all(
        isinstance(value, Tensor) for value in checkpoint.values()
    ):
        raise ModelError(f"{path} holds no weights: a mapping of names to tensors is needed")
    return {str(key).removeprefix("module."): value for key, value in checkpoint.items()}


def _some(what: str, names: list[str], shown: int = 4) -> str:
    """The first few of `names`, and how many more there are."""
    if not names:
        return ""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"{what} {', '.join(names[:shown])}{more}"
