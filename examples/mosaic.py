"""A picture of four things, explained for each of them: plain gradients beside LibraGrad.

    python examples/mosaic.py [PICTURE]

The built-in model and one of its held-out pictures; no network. It prints, for each of the four
classes, how much of the logit the map accounts for and how much of what speaks for the class lies
on the right quarter, and writes the maps to PICTURE (out/mosaic.png).
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import libragrad as lg
from libragrad.models import mosaic


def whole(data: mosaic.MosaicData, model: mosaic.MosaicViT) -> int:
    """Return the first picture in which the model finds all four classes."""
    with torch.no_grad():
        logits = model(mosaic.preprocess(data.images))
    right = (logits.topk(4).indices.sort().values == truth(data)).all(1)
    return int(right.nonzero()[0])


def truth(data: mosaic.MosaicData) -> torch.Tensor:
    """Return the four classes of each picture, in order."""
    return torch.from_numpy(data.cells).flatten(1).sort().values


def on_its_cell(e: lg.Explanation, mask: torch.Tensor) -> float:
    """Return which part of the positive attribution lies on the class's own quarter."""
    positive = e.map[0].clamp_min(0)
    patches = torch.nn.functional.interpolate(mask[None, None].float(), positive.shape, mode="area")
    return float((positive * patches[0, 0]).sum() / positive.sum())


def main(picture: Path) -> None:
    """Explain, print, draw."""
    model, data = mosaic.load(), mosaic.mosaic_images()
    index = whole(data, model)
    x, names = mosaic.preprocess(data.images[index]), list(data.names(index))
    seen = torch.from_numpy(data.images[index]).permute(2, 0, 1)[None] / 255
    explainer, shown = lg.Explainer(model), []
    print(f"{'':<17}{'':<12}{'logit':>8}{'accounted for':>16}{'on its quarter':>17}")
    for preset in (lg.STANDARD, lg.LIBRA):
        for e in explainer.explain(
            x, targets=names, methods=["fullgrad+"], preset=preset, pictures=seen
        ):
            label = e.labels[0]
            mask = torch.from_numpy(data.cell_mask(index, mosaic.LABELS.index(label)))
            logit, error = float(e.output[0]), float(e.completeness_error[0])
            accounted = f"{1 - error / logit:.2%}"
            right = f"{on_its_cell(e, mask):.0%}"
            print(f"{e.name:<17}{label:<12}{logit:>8.2f}{accounted:>16}{right:>17}")
            shown.append(e)
    picture.parent.mkdir(parents=True, exist_ok=True)
    print(f"\nThe maps are in {lg.Explanations(tuple(shown)).save(picture)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/mosaic.png"))
