"""The numbers of docs/results.md about the built-in model, measured anew.

    python -m docs.results

Every method explains the classes that the model found in the first 100 held-out mosaics. Its map is
held against the cell of the class and against the garment's own pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from docs.tables import markdown
from libragrad.explaining.explainer import Explainer
from libragrad.methods.table import METHODS
from libragrad.metrics import Estimate, average_precision, mean_estimate, pointing_game
from libragrad.models import mosaic
from libragrad.paths import Integrated, Point
from libragrad.paths import Path as Line
from libragrad.presets import LIBRA, STANDARD, Preset

PAGE = Path(__file__).with_name("results.md")
MOSAICS, STEPS = 100, 20
TRUTHS = ("cell", "garment")
METRICS = {"pointing": pointing_game, "AP": average_precision}
BACKWARDS: Mapping[str, tuple[Preset, Line]] = {
    "plain": (STANDARD, Point()),
    "Libra": (LIBRA, Point()),
    "integrated": (STANDARD, Integrated(steps=STEPS)),
}
ONE_BACKWARD = [key for key, m in METHODS.items() if not m.gradient or m.preset is not None]
ANY_BACKWARD = [key for key in METHODS if key not in ONE_BACKWARD]
_PART = "<!-- measured: {0} -->\n\n", "\n\n<!-- /measured: {0} -->"  # a table needs air

Scores = Mapping[str, Tensor]
"""One number a mosaic, [M], by metric and truth: "AP, cell"."""


@dataclass(frozen=True)
class Questions:
    """The found classes of some mosaics, one a row."""

    x: Tensor
    """[R, 3, 64, 64]"""
    classes: Tensor
    """[R]"""
    mosaics: Tensor
    """Which mosaic each row is about, [R]."""
    masks: Mapping[str, Tensor]
    """[R, 64, 64] for each of the truths."""


def questions(model: mosaic.MosaicViT, data: mosaic.MosaicData, count: int = MOSAICS) -> Questions:
    """The classes that the first `count` mosaics hold and whose logits are positive."""
    x = mosaic.preprocess(data.images[:count])
    with torch.no_grad():
        found = torch.from_numpy(data.labels[:count]) & (model(x) > 0)
    rows, classes = found.nonzero(as_tuple=True)
    pairs = list(zip(rows.tolist(), classes.tolist(), strict=True))
    masks = {
        "cell": [torch.from_numpy(data.cell_mask(i, c)) for i, c in pairs],
        "garment": [torch.from_numpy(data.object_mask(i, c)) for i, c in pairs],
    }
    return Questions(x[rows], classes, rows, {name: torch.stack(m) for name, m in masks.items()})


def scores(maps: Tensor, asked: Questions) -> Scores:
    """What maps [R, H, W] score; a mosaic's number is the mean over its found classes."""
    shape = next(iter(asked.masks.values())).shape[1:]
    enlarged = interpolate(maps[:, None], size=shape, mode="bicubic", align_corners=False)[:, 0]
    return {
        f"{name}, {truth}": by_mosaic(metric(enlarged, asked.masks[truth]), asked.mosaics)
        for name, metric in METRICS.items()
        for truth in TRUTHS
    }


def by_mosaic(values: Tensor, mosaics: Tensor) -> Tensor:
    """The mean of each mosaic's rows.

    >>> by_mosaic(torch.tensor([1.0, 0.0, 0.5]), torch.tensor([4, 4, 7])).tolist()
    [0.5, 0.5]
    """
    return torch.stack([values[mosaics == i].mean() for i in mosaics.unique()])


def measured(
    explainer: Explainer, asked: Questions, methods: Sequence[str], preset: Preset, path: Line
) -> dict[str, Scores]:
    """The scores of some methods, all heard in one backward pass."""
    found = explainer.explain(
        asked.x, asked.classes, methods=methods, preset=preset, path=path, batch_size=60
    )
    return {key: scores(e.map, asked) for key, e in zip(methods, found, strict=True)}


def table_of_backwards(truth: str, found: Mapping[str, Mapping[str, Scores]]) -> str:
    """A row for each method, three backwards for each metric."""
    head = ["method", *(f"{metric}, {name}" for metric in METRICS for name in BACKWARDS)]
    rows = []
    for key in ANY_BACKWARD:
        row = [METHODS[key].title]
        for metric in METRICS:
            plain, libra, line = (found[name][key][f"{metric}, {truth}"] for name in BACKWARDS)
            row += [shown(plain, than=libra), shown(libra, than=plain), shown(line)]
        rows.append(row)
    return markdown(head, rows)


def table_of_one(found: Mapping[str, Scores]) -> str:
    """A row for each method that has no choice of a backward."""
    columns = [f"{metric}, {truth}" for truth in TRUTHS for metric in METRICS]
    rows = ([METHODS[key].title, *(shown(found[key][c]) for c in columns)] for key in ONE_BACKWARD)
    return markdown(["method", *columns], rows)


def shown(values: Tensor, than: Tensor | None = None) -> str:
    """Mean ± standard error in percent; bold if better `than` others by two standard errors.

    >>> shown(torch.tensor([0.5, 0.7]), than=torch.tensor([0.1, 0.3]))
    '**60.0 ± 10.0**'
    """
    words = _percent(mean_estimate(values))
    if than is None:
        return words
    gain = mean_estimate(values - than)
    return f"**{words}**" if gain.value > 2 * gain.standard_error else words


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f} ± {100 * estimate.standard_error:.1f}"


def replaced(page: str, parts: Mapping[str, str]) -> str:
    r"""The page with its measured parts made anew.

    >>> old = "<!-- measured: a -->\n\n1\n\n<!-- /measured: a -->"
    >>> replaced(old, {"a": "2"}) == old.replace("1", "2")
    True
    """
    for name, text in parts.items():
        start, end = (mark.format(name) for mark in _PART)
        before, found, rest = page.partition(start)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"the page has no place for {name!r}: {start.strip()} … {end.strip()}")
        page = f"{before}{start}{text}{end}{after}"
    return page


def counted(asked: Questions) -> str:
    """How many questions there are."""
    return f"{len(asked.mosaics.unique())} mosaics, {len(asked.classes)} found classes."


def main() -> None:
    """Measure, and write the numbers into the page."""
    model, data = mosaic.load(), mosaic.mosaic_images()
    asked, explainer = questions(model, data), Explainer(model)
    found = {}
    for name, (preset, path) in BACKWARDS.items():
        print(f"{name}: {len(ANY_BACKWARD)} methods, {counted(asked)}", flush=True)
        found[name] = measured(explainer, asked, ANY_BACKWARD, preset, path)
    parts = {
        "accuracy": str(mosaic.measure(model, data)),
        "count": counted(asked),
        **{truth: table_of_backwards(truth, found) for truth in TRUTHS},
        "one backward": table_of_one(measured(explainer, asked, ONE_BACKWARD, *BACKWARDS["plain"])),
    }
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), parts), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
