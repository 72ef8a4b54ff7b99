"""The table of metrics. To add one: its file, a row here, a row in the test cases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from libragrad.metrics.average_precision import average_precision
from libragrad.metrics.completeness import completeness_error, relative_completeness_error
from libragrad.metrics.lif import lif_accuracy, lif_aopc
from libragrad.metrics.mass_accuracy import mass_accuracy
from libragrad.metrics.metric import Metric
from libragrad.metrics.mif import mif_accuracy, mif_aopc
from libragrad.metrics.pointing_game import pointing_game
from libragrad.metrics.srg import srg_accuracy, srg_aopc

__all__ = ["METRICS", "find_metric"]

_LIBRAGRAD = "LibraGrad, CVPR 2025, arXiv:2411.16760"
_SAMEK = (
    "Samek et al., Evaluating the Visualization of What a Deep Neural Network Has Learned, "
    "IEEE TNNLS 28(11), 2017, arXiv:1509.06321"
)
_BLUECHER = (
    "Blücher et al., Decoupling Pixel Flipping and Occlusion Strategy for Consistent XAI "
    "Benchmarks, TMLR 2024, arXiv:2401.06654"
)
_SUNDARARAJAN = (
    "Sundararajan et al., Axiomatic Attribution for Deep Networks, ICML 2017, arXiv:1703.01365"
)
_IMAGENET_S = (
    "Gao et al., Large-scale Unsupervised Semantic Segmentation, TPAMI 2022, arXiv:2106.03149"
)
_ZHANG = (
    "Zhang et al., Top-down Neural Attention by Excitation Backprop, ECCV 2016, arXiv:1608.00507"
)
_ARRAS = (
    "Arras et al., CLEVR-XAI: A Benchmark Dataset for the Ground Truth Evaluation of Neural "
    "Network Explanations, Information Fusion 81, 2022, arXiv:2003.07258"
)

# The ranges are those of the paper's ten points and its trapezoid: the whole axis weighs 0.9 and
# point 0, which is the same for every ranking, 0.05 of it.
_ROWS = (
    Metric(
        name="mif_accuracy",
        summary="accuracy lost when the most influential tokens go first (100 − area)",
        per_image=mif_accuracy,
        takes=("most",),
        higher_is_better=True,
        range=(0.1, 1.0),
        unit="%",
        scale=100.0,
        citation=f"{_SAMEK}; {_LIBRAGRAD}",
    ),
    Metric(
        name="mif_aopc",
        summary="probability lost when the most influential tokens go first (area)",
        per_image=mif_aopc,
        takes=("most",),
        higher_is_better=True,
        range=(-0.85, 0.85),
        unit="%",
        scale=100.0,
        citation=f"{_SAMEK}; {_LIBRAGRAD}",
    ),
    Metric(
        name="lif_accuracy",
        summary="accuracy kept when the least influential tokens go first (area)",
        per_image=lif_accuracy,
        takes=("least",),
        higher_is_better=True,
        range=(0.0, 0.9),
        unit="%",
        scale=100.0,
        citation=f"{_SAMEK}; {_LIBRAGRAD}",
    ),
    Metric(
        name="lif_aopc",
        summary="probability kept when the least influential tokens go first (100 − area)",
        per_image=lif_aopc,
        takes=("least",),
        higher_is_better=True,
        range=(0.15, 1.85),
        unit="%",
        scale=100.0,
        citation=f"{_SAMEK}; {_LIBRAGRAD}",
    ),
    Metric(
        name="srg_accuracy",
        summary="symmetric relevance gain: mean of MIF and LIF accuracy",
        per_image=srg_accuracy,
        takes=("most", "least"),
        higher_is_better=True,
        range=(0.075, 0.925),
        unit="%",
        scale=100.0,
        citation=f"{_BLUECHER}; {_LIBRAGRAD}",
    ),
    Metric(
        name="srg_aopc",
        summary="symmetric relevance gain: mean of MIF and LIF AOPC",
        per_image=srg_aopc,
        takes=("most", "least"),
        higher_is_better=True,
        range=(0.075, 0.925),
        unit="%",
        scale=100.0,
        citation=f"{_BLUECHER}; {_LIBRAGRAD}",
    ),
    Metric(
        name="completeness_error",
        summary="distance of the sum of the map from the explained scalar",
        per_image=completeness_error,
        takes=("attribution", "y"),
        higher_is_better=False,
        range=(0.0, math.inf),
        unit="logit",
        scale=1.0,
        citation=f"{_SUNDARARAJAN}; {_LIBRAGRAD}",
    ),
    Metric(
        name="relative_completeness_error",
        summary="completeness error over the size of the explained scalar",
        per_image=relative_completeness_error,
        takes=("attribution", "y"),
        higher_is_better=False,
        range=(0.0, math.inf),
        unit="1",
        scale=1.0,
        citation=_SUNDARARAJAN,
    ),
    Metric(
        name="average_precision",
        summary="average precision of the map as a segmentation of the object",
        per_image=average_precision,
        takes=("attribution", "mask"),
        higher_is_better=True,
        range=(0.0, 1.0),
        unit="%",
        scale=100.0,
        citation=f"{_IMAGENET_S}; {_LIBRAGRAD}",
    ),
    Metric(
        name="pointing_game",
        summary="whether the maximum of the map lies on the object",
        per_image=pointing_game,
        takes=("attribution", "mask"),
        higher_is_better=True,
        range=(0.0, 1.0),
        unit="%",
        scale=100.0,
        citation=_ZHANG,
    ),
    Metric(
        name="mass_accuracy",
        summary="share of the positive attribution that lies on the object",
        per_image=mass_accuracy,
        takes=("attribution", "mask"),
        higher_is_better=True,
        range=(0.0, 1.0),
        unit="%",
        scale=100.0,
        citation=_ARRAS,
    ),
)

METRICS: Mapping[str, Metric] = MappingProxyType({row.name: row for row in _ROWS})
"""Every metric by its name, in the order of the paper's columns. Read-only."""


def find_metric(name: str) -> Metric:
    """The metric of that name.

    >>> find_metric("mif_accuracy").higher_is_better
    True
    >>> find_metric("mif_acuracy")
    Traceback (most recent call last):
        ...
    ValueError: no metric 'mif_acuracy'; did you mean 'mif_accuracy'?
    """
    if name in METRICS:
        return METRICS[name]
    near = get_close_matches(name, METRICS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(METRICS)}"
    raise ValueError(f"no metric {name!r}; {hint}")
