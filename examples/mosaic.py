"""A picture of four things, explained for each of them: plain gradients beside LibraGrad.

    python examples/mosaic.py [PICTURE]

The built-in model and the held-out picture of whose four classes it is surest; no network. It
prints, for each of the four, how much of the logit is accounted for and how much of what speaks for
the class lies on the right quarter, and writes the maps to PICTURE (out/mosaic.png).
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import libragrad as lg
from libragrad.models import mosaic


def surest(data: mosaic.MosaicData, model: mosaic.MosaicViT) -> int:
    """Return the picture whose least certain class has the largest logit."""
    with torch.no_grad():
        logits = model(mosaic.preprocess(data.images))
    least = logits.masked_fill(~torch.from_numpy(data.labels), torch.inf).amin(dim=1)
    return int(least.argmax())


def on_its_cell(e: lg.Explanation, mask: torch.Tensor) -> float:
    """Return which part of the positive attribution lies on the class's own quarter."""
    positive = e.map[0].clamp_min(0)
    patches = torch.nn.functional.interpolate(mask[None, None].float(), positive.shape, mode="area")
    return float((positive * patches[0, 0]).sum() / positive.sum())


def main(picture: Path) -> None:
    """Explain, print, draw."""
    model, data = mosaic.load(), mosaic.mosaic_images()
    index = surest(data, model)
    x, names = mosaic.preprocess(data.images[index]), list(data.names(index))
    seen = torch.from_numpy(data.images[index]).permute(2, 0, 1)[None] / 255
    explainer, shown = lg.Explainer(model), []
    print(f"\nHeld-out mosaic {index}: {', '.join(names)}.\n")
    print(f"{'method':<17}{'class':<12}{'logit':>8}{'accounted for':>16}{'on its quarter':>17}")
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
