"""The numbers that the paper prints, beside which ours are put.

`paper/results.csv.gz` holds them all, a number a row. In the paper's source the ablation row
"No Att. & No LN" is split at its own "&"; it is restored here, and its last number is missing.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from libragrad.evaluation.cell import Cell
from libragrad.evaluation.names import title
from libragrad.evaluation.score import Score

__all__ = ["Published", "find_published", "published_numbers"]


@dataclass(frozen=True)
class Published:
    """A printed number and the bound of its deviation that is printed behind it."""

    value: float
    bound: float


_METHODS = {
    "input_x_grad": "InputxGradient",
    "fullgrad": "FullGrad",
    "fullgrad+": "FullGrad+",
    "hirescam": "HiResCAM",
    "gradcam+": "GradCAM+",
    "xgradcam+": "XGradCAM+",
    "attcat": "AttCAT",
    "genatt": "GenAtt",
    "tokentm": "TokenTM",
    "rawatt": "RawAtt",
    "rollout": "Attention Rollout",
    "decompx": "DecompX",
    "alilrp": "AliLRP",
    "attnlrp": "AttnLRP",
    "random": "Random",
}

_ABLATIONS = {
    "no attention": "No Att.",
    "no LayerNorm": "No LN",
    "neither": "No Att. & No LN",
    "no activation": "No Act.",
    "no gate": "No Gate",
    "no bias": "No Bias",
}

_SCORES = {
    "mif_accuracy": ("MIF", "accuracy"),
    "mif_aopc": ("MIF", "AOPC"),
    "lif_accuracy": ("LIF", "accuracy"),
    "lif_aopc": ("LIF", "AOPC"),
    "srg_accuracy": ("SRG", "accuracy"),
    "srg_aopc": ("SRG", "AOPC"),
    "completeness_error": ("CE", "logit"),
    "average_precision": ("Segmentation", "AP"),
}

Key = tuple[str, ...]


@cache
def published_numbers() -> Mapping[Key, Published]:
    """Every printed number by its place in the paper.

    The key is model, data set, method, composition, ablation, metric, labels, measure. Of the 3,688
    printed numbers 609 repeat another one, in the same or in another table.

    >>> len(published_numbers())
    3079
    """
    packed = files("libragrad.evaluation").joinpath("paper", "results.csv.gz").read_bytes()
    _, *rows = csv.reader(io.StringIO(gzip.decompress(packed).decode()))
    return MappingProxyType(
        {tuple(key): Published(float(value), float(bound)) for _, *key, value, bound in rows}
    )


def find_published(cell: Cell, score: Score) -> Published | None:
    """What the paper prints for the cell, if it does.

    >>> tiny = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"
    >>> cell = Cell(tiny, "imagenet", "fullgrad+", "deletion", "Libra")
    >>> find_published(cell, Score("mif_accuracy", "predicted"))
    Published(value=81.7, bound=0.1)
    """
    composition = _composition(cell)
    if composition is None or score.metric not in _SCORES or cell.method not in _METHODS:
        return None
    metric, measure = _SCORES[score.metric]
    labels = "predicted" if "predicted" in (score.labels, _labels(score)) else "gt"
    place = (title(cell.model), title(cell.dataset), _METHODS[cell.method])
    ablation = _ABLATIONS.get(cell.preset, "")
    return published_numbers().get((*place, composition, ablation, metric, labels, measure))


def _composition(cell: Cell) -> str | None:
    """The paper's word for preset and path, where it has one."""
    if cell.path != "point":
        plain = cell.path == "integrated" and cell.preset == "Standard"
        return "integrated" if plain else None
    if cell.preset in ("Standard", "plain"):
        return "none"
    return "libra" if cell.preset == "Libra" or cell.preset in _ABLATIONS else None


def _labels(score: Score) -> str:
    """Completeness is about the predicted class."""
    return "predicted" if score.measurement == "completeness" else "label"
