"""The options that several verbs share, with their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = ["DEFAULT_MODEL", "AllowPickle", "AsJson", "Device", "Model", "Preset", "Weights"]

DEFAULT_MODEL = "vit_base_patch16_224.augreg2_in21k_ft_in1k"
"""`libragrad.models.loading.DEFAULT`, which cannot be asked here without importing PyTorch."""


def _presets(incomplete: str) -> list[str]:
    from libragrad.presets import ABLATIONS, PRESETS

    names = [name.lower() for name in (*PRESETS, *ABLATIONS)]
    return [name for name in names if name.startswith(incomplete.lower())]


def _models(incomplete: str) -> list[str]:
    names = ("builtin:mosaic", DEFAULT_MODEL, "timm:", "tv:", "openclip:", "hf:")
    return [name for name in names if name.startswith(incomplete)]


Model: TypeAlias = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="NAME",
        autocompletion=_models,
        help="A model of timm, or hf:…, openclip:…, tv:…, builtin:mosaic; "
        "see [bold]libragrad models[/bold].",
    ),
]

Weights: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Weights from a file: safetensors, or a checkpoint."),
]

AllowPickle: TypeAlias = Annotated[
    bool,
    typer.Option("--allow-pickle", help="Load weights that can run code. Only if you trust them."),
]

Device: TypeAlias = Annotated[
    str,
    typer.Option(metavar="NAME", help="cpu, cuda, cuda:1, mps; auto is cuda, if there."),
]

Preset: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=_presets,
        help="The backward: libra, standard, attnlrp …, or an ablation such as 'no attention'.",
    ),
]

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the answer as JSON, and nothing else.")
]
