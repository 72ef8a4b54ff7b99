"""Classifiers of torchvision, by its own names: `tv:vit_b_16`."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit

import torch

from libragrad.errors import ModelError
from libragrad.models.from_timm import INSTEAD
from libragrad.models.loaded import LoadedModel, Manifest
from libragrad.models.network import has_network, online
from libragrad.models.preprocessing import Preprocessing
from libragrad.models.torchvision_cpu import declare_missing_operators
from libragrad.models.weights_file import put_weights, read_weights


def load(name: str, weights: Path | None, allow_pickle: bool) -> LoadedModel:
    """The model with its default published weights, or with those of a file."""
    declare_missing_operators()
    import torchvision

    published = torchvision.models.get_model_weights(name).DEFAULT
    with torch.random.fork_rng(devices=[]):
        if weights is None:
            with online(f"the weights of tv:{name}", INSTEAD, ModelError):
                _check_reachable(published.url)
                model = torchvision.models.get_model(name, weights=published)
        else:
            model = torchvision.models.get_model(name)
            put_weights(model, read_weights(weights, allow_pickle=allow_pickle), weights, name)
    return LoadedModel(
        model.eval(),
        Manifest(
            f"tv:{name}",
            "torchvision",
            torchvision.__version__,
            str(published) if weights is None else weights.name,
        ),
        _preprocessing(published.transforms()),
        tuple(published.meta["categories"]),
    )


def names() -> Iterable[str]:
    """The classifiers, all of which have published weights."""
    declare_missing_operators()
    import torchvision

    found: list[str] = torchvision.models.list_models(module=torchvision.models)
    return found


def _check_reachable(url: str) -> None:
    """Fail before torchvision announces a download that cannot be."""
    parts = urlsplit(url)
    if (Path(torch.hub.get_dir()) / "checkpoints" / Path(parts.path).name).exists():
        return
    if not has_network(parts.hostname):
        raise URLError(f"{parts.hostname} has no address")


def _preprocessing(transform: Any) -> Preprocessing:
    from torchvision.transforms import InterpolationMode

    plain = copy(transform)
    plain.interpolation = InterpolationMode.NEAREST_EXACT
    plain.mean, plain.std = [0.0] * 3, [1.0] * 3
    return Preprocessing(
        transform,
        lambda picture: (plain(picture) * 255).round(),
        tuple(transform.mean),
        tuple(transform.std),
    )
