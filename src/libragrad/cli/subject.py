"""What is asked, and of whom: the model with its prompts, and the targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import typer

from libragrad.cli.choices import index_or_label
from libragrad.errors import InputError
from libragrad.explaining.explainer import Explainer
from libragrad.models.loaded import LoadedModel
from libragrad.models.loading import load
from libragrad.models.preprocessing import Preprocessing
from libragrad.targets import Contrast, Prompt, PromptModel, Target

__all__ = ["Subject", "load_on", "sees", "subject", "with_prompts"]


@dataclass(frozen=True)
class Subject:
    """A model that is ready to be asked about pictures, and what it is asked."""

    explainer: Explainer
    preprocess: Preprocessing
    targets: Sequence[Target]
    manifest: dict[str, Any]


def subject(
    name: str,
    weights: Path | None,
    allow_pickle: bool,
    device: torch.device,
    targets: Sequence[str] | None,
    prompts: Sequence[str] | None,
    contrast: tuple[str, str] | None,
) -> Subject:
    """Load the model, give it the prompts, and read the targets."""
    if bool(targets) + bool(prompts) + bool(contrast) > 1:
        raise typer.BadParameter("give targets, prompts or a contrast, not two of them")
    loaded = load_on(name, weights, allow_pickle, device)
    preprocess = sees(loaded)
    reads = loaded.tokenizer is not None
    texts = list(prompts or (contrast if contrast and reads else ()))
    asked: list[Target] = [None]
    if contrast:
        a, b = (Prompt(text) if reads else index_or_label(text) for text in contrast)
        asked = [Contrast(a, b)]
    elif prompts:
        asked = [Prompt(text) for text in prompts]
    elif targets:
        asked = [index_or_label(text) for text in targets]
    model = with_prompts(loaded, texts)
    labels = None if texts else loaded.labels
    return Subject(Explainer(model, labels=labels), preprocess, asked, asdict(loaded.manifest))


def load_on(
    name: str, weights: Path | None, allow_pickle: bool, device: torch.device
) -> LoadedModel:
    """The model of that name, on that device."""
    loaded = load(name, weights, allow_pickle=allow_pickle)
    loaded.model.to(device)
    return loaded


def sees(loaded: LoadedModel) -> Preprocessing:
    """The preprocessing of a model that looks at pictures."""
    if loaded.preprocess is None:
        raise InputError(
            f"{loaded.manifest.name} reads text and sees no pictures: explain it from Python, with "
            "libragrad.explain(model, tokens)"
        )
    return loaded.preprocess


def with_prompts(loaded: LoadedModel, prompts: Sequence[str]) -> torch.nn.Module:
    """The model, or, where there are prompts, its image tower with these for classes."""
    if prompts:
        return PromptModel(loaded.model, prompts, tokenizer=loaded.tokenizer).eval()
    if loaded.tokenizer is not None:
        raise typer.BadParameter(
            f"{loaded.manifest.name} compares pictures with texts: give at least one",
            param_hint="--prompt",
        )
    return loaded.model
