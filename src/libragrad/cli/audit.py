"""`libragrad audit`: does the account of a model balance, and if not, what breaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from libragrad.cli.options import AllowPickle, AsJson, Device, Preset, Weights

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from libragrad.engine.audit import Audit
    from libragrad.models.loaded import LoadedModel

__all__ = ["audit"]


def audit(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Its name; see libragrad models.")],
    image: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A picture, or builtin:mosaic-000; else random pixels."),
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The input of a model that reads text.")
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="For a model that compares pictures with texts."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="CLASS", help="A class; else the largest output."),
    ] = None,
    preset: Preset = "libra",
    weights: Weights = None,
    allow_pickle: AllowPickle = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the random pixels.")] = 0,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Balance the books of one output of a model.

    One forward and one backward say how much of the output inputs and biases
    account for, and which operation, in which module, leaks the rest.
    Operations without a rule are named.

    [bold]Examples[/bold]
      libragrad audit vit_base_patch16_224.augreg2_in21k_ft_in1k
      libragrad audit builtin:mosaic --image builtin:mosaic-000 --target 3
      libragrad audit builtin:mosaic --preset standard
      libragrad audit openclip:ViT-B-32 --prompt "a zebra"
      libragrad audit hf:gpt2 --text "The zebra is" --json
    """
    import libragrad
    from libragrad.cli.choices import find_device, find_preset, index_or_label
    from libragrad.cli.screen import answer
    from libragrad.cli.subject import load_on, with_prompts
    from libragrad.targets.names import find_label

    backward, place = find_preset(preset), find_device(device)
    loaded = load_on(model, weights, allow_pickle, place)
    wanted = None if target is None else index_or_label(target)
    if isinstance(wanted, str) and loaded.labels is not None:
        wanted = find_label(wanted, loaded.labels)
    if loaded.preprocess is None:
        subject = loaded.model
        inputs: Tensor | dict[str, Tensor] = _tokens(loaded, text, place)
    else:
        subject = with_prompts(loaded, prompt or ())
        inputs = _pixels(loaded, image, seed).to(place)
    account = libragrad.audit(subject, inputs, wanted, preset=backward)
    if as_json:
        answer(_data(account, loaded))
    else:
        typer.echo(str(account))


def _pixels(loaded: LoadedModel, image: str | None, seed: int) -> Tensor:
    """The model's input for the picture, or random numbers of its shape."""
    import torch
    from PIL import Image

    from libragrad.cli.given import given

    assert loaded.preprocess is not None
    if image is not None:
        records = given([image])
        if len(records) > 1:
            raise typer.BadParameter("an audit takes one picture", param_hint="--image")
        return loaded.preprocess(records[0].picture())[None]
    shape = loaded.preprocess(Image.new("RGB", (512, 512))).shape
    return torch.randn(1, *shape, generator=torch.Generator().manual_seed(seed))


def _tokens(loaded: LoadedModel, text: str | None, place: torch.device) -> dict[str, Tensor]:
    """The model's input for the text."""
    if text is None or loaded.tokenizer is None:
        raise typer.BadParameter(
            f"{loaded.manifest.name} reads text: say which", param_hint="--text"
        )
    tokens = loaded.tokenizer(text, return_tensors="pt")
    return {key: x.to(place) for key, x in tokens.items()}


def _data(account: Audit, loaded: LoadedModel) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "model": asdict(loaded.manifest),
        "preset": account.preset.name,
        "output": account.output,
        "inputs": account.inputs,
        "biases": sum(account.biases.values()),
        "error": account.error,
        "relative_error": account.relative_error,
        "leaks": [leak._asdict() for leak in account.leaks],
        "unknown": [str(place) for place in account.unknown],
        "operations": account.operations,
    }
