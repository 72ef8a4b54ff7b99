"""Names: the models that the paper publishes, the known values of a cell's fields, and titles."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from libragrad.data import DATASETS
from libragrad.evaluation.cell import Cell
from libragrad.masking import MASKS
from libragrad.methods.table import METHODS
from libragrad.metrics import METRICS
from libragrad.paths import Integrated, Path, Point, Smooth
from libragrad.presets import ABLATIONS, LIBRA, PRESETS, Preset

__all__ = ["KNOWN", "PATHS", "PUBLISHED_MODELS", "cell_title", "preset_of", "score_title", "title"]

PUBLISHED_MODELS: Mapping[str, str] = {
    "ViT-T": "vit_tiny_patch16_224.augreg_in21k_ft_in1k",
    "ViT-S": "vit_small_patch16_224.augreg_in21k_ft_in1k",
    "ViT-B": "vit_base_patch16_224.augreg2_in21k_ft_in1k",
    "ViT-L": "vit_large_patch16_224.augreg_in21k_ft_in1k",
    "EVA2-S": "eva02_small_patch14_336.mim_in22k_ft_in1k",
    "BEiT2-L": "beitv2_large_patch16_224.in1k_ft_in22k_in1k",
    "FlexiViT-L": "flexivit_large.1200ep_in1k",
    "SigLIP-L": "vit_so400m_patch14_siglip_gap_378.webli_ft_in1k",
    "CLIP-H": "vit_huge_patch14_clip_224.laion2b_ft_in12k_in1k",
    "DeiT3-H": "deit3_huge_patch14_224.fb_in22k_ft_in1k",
    "MLP-Mixer-L": "gmixer_24_224.ra3_in1k",
}
"""The paper's names of its models, and what they are called where they are published."""

PATHS: Mapping[str, Path] = {"point": Point(), "integrated": Integrated(), "smooth": Smooth()}
"""Paths by the names that a cell has for them."""

KNOWN: Mapping[str, Collection[str]] = {
    "dataset": DATASETS,
    "method": METHODS,
    "preset": (*PRESETS, *ABLATIONS),
    "path": PATHS,
    "mask": MASKS,
}
"""The names that the fields of a cell may have. Models are looked for when they are loaded."""

_TITLES = {
    **{name: short for short, name in PUBLISHED_MODELS.items()},
    "builtin:mosaic": "Mosaic",
    "imagenet": "ImageNet",
    "imagenet-s": "ImageNet-S",
    "imagenet-hard": "ImageNet-Hard",
    "mura": "MURA",
    "oxford-pet": "Oxford-IIIT Pet",
    "deletion": "deletion",
}

_METRIC_TITLES = {
    "mif_accuracy": "MIF accuracy",
    "mif_aopc": "MIF AOPC",
    "lif_accuracy": "LIF accuracy",
    "lif_aopc": "LIF AOPC",
    "srg_accuracy": "SRG accuracy",
    "srg_aopc": "SRG AOPC",
    "completeness_error": "completeness error",
    "relative_completeness_error": "relative completeness error",
    "average_precision": "segmentation AP",
    "pointing_game": "pointing game",
    "mass_accuracy": "mass accuracy",
}


def preset_of(name: str) -> Preset:
    """The preset, or ablation, that a cell names.

    >>> preset_of("no attention") is ABLATIONS["no attention"]
    True
    """
    return PRESETS[name] if name in PRESETS else ABLATIONS[name]


def title(value: str | int) -> str:
    """A model or data set as people read it.

    >>> title("vit_tiny_patch16_224.augreg_in21k_ft_in1k"), title("oxford-pet")
    ('ViT-T', 'Oxford-IIIT Pet')
    """
    return _TITLES.get(str(value), str(value))


def cell_title(cell: Cell) -> str:
    """The method of a cell as the paper names it.

    >>> cell_title(Cell("m", "d", "genatt", "deletion", "Libra", "integrated"))
    'Int. Libra GenAtt'
    >>> cell_title(Cell("m", "d", "fullgrad+", "deletion", "no attention"))
    'Libra FullGrad+, no attention'
    """
    method, prefix = METHODS[cell.method], PATHS[cell.path].prefix
    if cell.preset in ABLATIONS:
        return f"{method.name(LIBRA, prefix)}, {cell.preset}"
    return method.name(PRESETS[cell.preset], prefix)


def score_title(metric: str, labels: str, area: str = "trapezoid") -> str:
    """A score as the head of a column.

    >>> score_title("mif_accuracy", "predicted"), score_title("pointing_game", "label")
    ('MIF accuracy, predicted', 'pointing game')
    """
    if METRICS[metric].takes[0] == "attribution":
        return _METRIC_TITLES[metric]
    words = [_METRIC_TITLES[metric], "predicted" if labels == "predicted" else "ground truth"]
    return ", ".join([*words, *(["mean of points"] if area == "mean" else [])])
