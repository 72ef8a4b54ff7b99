"""Models of pictures and text from open_clip: `openclip:ViT-B-32`, `openclip:ViT-B-32:openai`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from libragrad.errors import ModelError
from libragrad.models.from_timm import INSTEAD
from libragrad.models.loaded import LoadedModel, Manifest
from libragrad.models.network import online
from libragrad.models.preprocessing import Preprocessing, nearest_steps
from libragrad.models.torchvision_cpu import declare_missing_operators
from libragrad.models.weights_file import put_weights, read_weights


def load(name: str, weights: Path | None, allow_pickle: bool) -> LoadedModel:
    """The model with published weights, or with those of a file.

    A name alone has the first weights that open_clip lists for it.
    """
    declare_missing_operators()
    import open_clip

    architecture, tag = _named()[name]
    if weights is None and tag is None:
        raise ModelError(f"open_clip has no weights for {name}: give weights=FILE, or another name")
    with torch.random.fork_rng(devices=[]):
        if weights is None:
            with online(f"the weights of openclip:{name}", INSTEAD, ModelError):
                open_clip.download_pretrained(open_clip.get_pretrained_cfg(architecture, tag))
                model, _, transform = open_clip.create_model_and_transforms(architecture, tag)
        else:
            model, _, transform = _untrained(architecture)
            put_weights(model, read_weights(weights, allow_pickle=allow_pickle), weights, name)
    with online(f"the tokenizer files of openclip:{name}", INSTEAD, ModelError):
        tokenizer = open_clip.get_tokenizer(architecture)
    normalise = transform.transforms[-1]
    return LoadedModel(
        model.eval(),
        Manifest(
            f"openclip:{name}",
            "open_clip",
            open_clip.__version__,
            str(tag) if weights is None else weights.name,
        ),
        Preprocessing(
            transform,
            nearest_steps(transform.transforms),
            tuple(map(float, normalise.mean)),
            tuple(map(float, normalise.std)),
        ),
        tokenizer=tokenizer,
    )


def names() -> Iterable[str]:
    """The names with published weights, alone and with each of them: `name` and `name:weights`."""
    return [name for name, (_, tag) in _named().items() if tag is not None]


def architectures() -> Iterable[str]:
    """The names without published weights, for those of a file."""
    return [name for name, (_, tag) in _named().items() if tag is None]


def _named() -> dict[str, tuple[str, str | None]]:
    declare_missing_operators()
    import open_clip

    pairs: list[tuple[str, str]] = open_clip.list_pretrained()
    named: dict[str, tuple[str, str | None]] = {}
    for architecture in open_clip.list_models():
        named[architecture] = (architecture, None)
    for architecture, tag in reversed(pairs):
        named[architecture] = (architecture, tag)
    return named | {f"{architecture}:{tag}": (architecture, tag) for architecture, tag in pairs}


def _untrained(architecture: str) -> Any:
    import open_clip

    return open_clip.create_model_and_transforms(
        architecture, pretrained=None, pretrained_image=False, pretrained_text=False
    )
