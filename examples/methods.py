"""All methods side by side: one picture, two targets, under plain backpropagation and under Libra.

    python examples/methods.py two_animals.png vit_tiny.safetensors docs/images/methods.png

The first argument is a photograph, the second the weights of the model below. Without arguments the
model and a picture that come with the library are explained, into out/methods.png.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

import libragrad
from libragrad import LIBRA, METHODS, STANDARD, Explainer, Explanation, picture
from libragrad.data.picture_file import open_picture
from libragrad.explaining.explanation import joined
from libragrad.models import mosaic
from libragrad.models.loading import load

MODEL = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"
TARGETS: tuple[str, ...] = ("zebra", "African elephant")
PRESETS = {"plain": STANDARD, "Libra": LIBRA}


def main(arguments: Sequence[str]) -> None:
    out = Path(arguments[2] if len(arguments) > 2 else "out/methods.png")
    out.parent.mkdir(exist_ok=True)
    if arguments:
        loaded = load(MODEL, weights=arguments[1])
        assert loaded.preprocess is not None
        x = loaded.preprocess(open_picture(Path(arguments[0])))[None]
        shown = torch.from_numpy(loaded.preprocess.shown(x[0]).copy()).permute(2, 0, 1)[None] / 255
        targets = TARGETS
        explainer = Explainer(loaded.model, labels=loaded.labels)
    else:
        data = mosaic.mosaic_images()
        x = mosaic.preprocess(data.images[0])
        shown = torch.from_numpy(data.images[:1]).permute(0, 3, 1, 2) / 255
        targets = tuple(data.names(0)[:2])
        explainer = Explainer(mosaic.load())
    print(f"libragrad {libragrad.__version__}: {len(METHODS)} methods, {', '.join(targets)}")
    rows = side_by_side(explainer, x, targets, shown)
    print(picture.save(picture.sheet(rows, scale="map", of="probability"), out, dpi=64))


def side_by_side(
    explainer: Explainer, x: Tensor, targets: Sequence[str], shown: Tensor
) -> list[Explanation]:
    """A row for each method, a column for each target and backward.

    Of the targets' probabilities: why this class and not another.
    """
    columns = [(target, word, preset) for target in targets for word, preset in PRESETS.items()]
    found = [
        [
            _titled(e, f"{target}, {word}")
            for e in explainer.explain(
                x,
                targets=[target],
                methods=list(METHODS),
                preset=preset,
                output="probability",
                pictures=shown,
            )
        ]
        for target, word, preset in columns
    ]
    return [joined(row) for row in zip(*found, strict=True)]


def _titled(e: Explanation, label: str) -> Explanation:
    """The column tells the preset, so the row's name leaves it out."""
    return replace(e, labels=(label,), settings=replace(e.settings, preset=STANDARD))


if __name__ == "__main__":
    main(sys.argv[1:])
