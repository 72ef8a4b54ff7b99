"""Models of timm, by its own names: `vit_base_patch16_224.augreg2_in21k_ft_in1k`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.errors import ModelError
from libragrad.models.loaded import LoadedModel, Manifest
from libragrad.models.network import online
from libragrad.models.preprocessing import Preprocessing, nearest_steps
from libragrad.models.torchvision_cpu import declare_missing_operators
from libragrad.models.weights_file import put_weights, read_weights

INSTEAD = "give weights=FILE, or use builtin:mosaic, which needs no network"


def load(name: str, weights: Path | None, allow_pickle: bool) -> LoadedModel:
    """The model with its published weights, or with those of a file.

    A file whose last layer has another number of classes is a fine-tuned one: the model gets as
    many, and has no label names then.
    """
    declare_missing_operators()
    import timm

    if weights is None and not timm.is_model_pretrained(name):
        raise ModelError(f"timm has no weights for {name}: give weights=FILE, or another name")
    with torch.random.fork_rng(devices=[]), online(f"the weights of {name}", INSTEAD, ModelError):
        model = timm.create_model(name, pretrained=weights is None)
    if weights is not None:
        tensors = read_weights(weights, allow_pickle=allow_pickle)
        _resize_classifier(model, tensors)
        put_weights(model, tensors, weights, name)
    return LoadedModel(
        model.eval(),
        Manifest(
            f"timm:{name}",
            "timm",
            timm.__version__,
            "pretrained" if weights is None else weights.name,
        ),
        _preprocessing(model),
        _labels(model),
    )


def names() -> Iterable[str]:
    """The names that have published weights, with the weights' own tag."""
    declare_missing_operators()
    import timm

    found: list[str] = timm.list_models(pretrained=True)
    return found


def architectures() -> Iterable[str]:
    """The names without a tag, for the default weights or those of a file."""
    declare_missing_operators()
    import timm

    found: list[str] = timm.list_models()
    return found


def _resize_classifier(model: Any, tensors: dict[str, Tensor]) -> None:
    classifier = model.pretrained_cfg.get("classifier")
    last = tensors.get(f"{classifier}.weight") if isinstance(classifier, str) else None
    if last is not None and last.shape[0] != model.num_classes:
        with torch.random.fork_rng(devices=[]):
            model.reset_classifier(last.shape[0])


def _preprocessing(model: nn.Module) -> Preprocessing:
    from timm.data import create_transform, resolve_model_data_config

    config = resolve_model_data_config(model)
    transform = create_transform(**config, is_training=False)
    return Preprocessing(
        transform,
        nearest_steps(transform.transforms),
        tuple(map(float, config["mean"])),
        tuple(map(float, config["std"])),
    )


def _labels(model: nn.Module) -> tuple[str, ...] | None:
    from timm.data import ImageNetInfo, infer_imagenet_subset

    subset = infer_imagenet_subset(model)
    return tuple(ImageNetInfo(subset).label_descriptions()) if subset else None
