"""`libragrad explain`: why a model sees in a picture what it sees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from libragrad.cli.options import (
    DEFAULT_MODEL,
    AllowPickle,
    AsJson,
    Device,
    Model,
    Preset,
    Weights,
)

__all__ = ["explain"]


def _methods(incomplete: str) -> list[tuple[str, str]]:
    from libragrad.methods.table import METHODS

    return [(key, m.title) for key, m in METHODS.items() if key.startswith(incomplete.lower())]


def explain(
    images: Annotated[
        list[str],
        typer.Argument(
            metavar="IMAGE",
            help="Files, folders, globs, or builtin:mosaic-000, a picture of the package.",
        ),
    ],
    model: Model = DEFAULT_MODEL,
    weights: Weights = None,
    allow_pickle: AllowPickle = False,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            metavar="CLASS",
            help="A label, an index, predicted or second. Several make columns.",
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A text, for models that compare. Several make columns."),
    ] = None,
    contrast: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Why A and not B."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            autocompletion=_methods,
            help="A key of [bold]libragrad methods[/bold]; fullgrad+ if none. Several make rows.",
        ),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Put the plain gradient's map beside LibraGrad's.")
    ] = False,
    preset: Preset = "libra",
    path: Annotated[
        Literal["point", "integrated", "smooth"],
        typer.Option(help="Where gradients are taken."),
    ] = "point",
    steps: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Steps of the path, or noisy samples.")
    ] = None,
    output: Annotated[
        Literal["logit", "probability", "sigmoid", "contrastive"],
        typer.Option(help="Which number of the class is explained."),
    ] = "logit",
    level: Annotated[
        str, typer.Option(metavar="LEVEL", help="tokens, pixels, or the number of a block.")
    ] = "tokens",
    profile: Annotated[
        Literal["library", "paper"],
        typer.Option(help="paper: what the paper's own code computes, quirks included."),
    ] = "library",
    recipe: Annotated[
        Literal["paper", "signed", "absolute", "raw"],
        typer.Option(help="From values to colours."),
    ] = "paper",
    values: Annotated[
        bool, typer.Option("--values", help="Write each patch's value on it; put maps into JSON.")
    ] = False,
    deletion: Annotated[
        bool, typer.Option("--deletion", help="Draw how the probability falls as patches go.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE|FOLDER",
            help="A .png, .svg, .html or .npz file, or a folder for many pictures and their index. "
            "Without it the terminal shows them.",
        ),
    ] = None,
    device: Device = "auto",
    batch_size: Annotated[
        int, typer.Option(min=1, metavar="N", help="Pictures × steps that are run at a time.")
    ] = 8,
    as_json: AsJson = False,
) -> None:
    """Explain why a model sees in a picture what it sees.

    Without a target it is the predicted class that is explained. The map adds
    up to the output; how nearly is said below it. A picture that cannot be
    read is named and skipped, and Ctrl-C keeps what is done.

    [bold]Examples[/bold]
      libragrad explain zebra.jpg
      libragrad explain zebra.jpg --target zebra --target tusker --out z.png
      libragrad explain zebra.jpg --compare --deletion --out zebra.html
      libragrad explain zebra.jpg --method fullgrad+ --method genatt
      libragrad explain zebra.jpg --path integrated --steps 20 --values
      libragrad explain zebra.jpg --contrast zebra hartebeest --recipe signed
      libragrad explain sink.jpg -m openclip:ViT-B-32 --prompt "a spoon"
      libragrad explain photos/ 'more/**/*.jpg' --out explained/
      libragrad explain -m builtin:mosaic builtin:mosaic-000 --json
    """
    from libragrad.cli.choices import find_device, find_path, find_preset, level_of
    from libragrad.cli.delivery import Delivery
    from libragrad.cli.given import given
    from libragrad.cli.maker import Maker
    from libragrad.cli.run import run
    from libragrad.cli.subject import subject
    from libragrad.methods.table import method_of
    from libragrad.picture import Look
    from libragrad.presets import STANDARD

    asked = list(dict.fromkeys(map(method_of, method or ["fullgrad+"])))
    backward = find_preset(preset)
    if compare and backward == STANDARD:
        raise typer.BadParameter("--compare puts the plain one beside it", param_hint="--preset")
    if deletion and level != "tokens":
        raise typer.BadParameter("--deletion deletes tokens: leave it out", param_hint="--level")
    records = given(images)
    maps = len(asked) * max(1, len([*(target or ()), *(prompt or ())])) * (1 + compare)
    delivery = Delivery.to(out, Look(recipe, values=values), len(records), maps, quiet=as_json)
    delivery.spare(records)
    place = find_device(device)
    explained = subject(model, weights, allow_pickle, place, target, prompt, contrast)
    maker = Maker(
        explained.explainer,
        explained.preprocess,
        place,
        asked,
        explained.targets,
        backward,
        compare,
        deletion,
        "probability" if output in ("probability", "sigmoid") else "logit",
        {
            "path": find_path(path, steps),
            "output": output,
            "profile": profile,
            "level": level_of(level),
            "batch_size": batch_size,
        },
    )
    origin = explained.manifest
    code = run(records, maker, delivery, origin, batch_size, values=values, as_json=as_json)
    raise typer.Exit(code)
