"""Norms: σ is constant, the mean keeps its gradient, β is a bias; fused and written out."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from libragrad import ALI_LRP, DECOMPX, LIBRA
from tests.cases.shorthand import CUBE, IMAGE, aten, by, constant_of, under
from tests.checks import Case
from tests.reference.formulas import (
    channels,
    const,
    half_each,
    in_groups,
    root_mean_square_norm,
    standardised,
)

GAMMA, BETA = constant_of(4, seed=1), constant_of(4, seed=2)
MEAN, VARIANCE = constant_of(4, seed=3), constant_of(4, seed=4, positive=True)
TABLE, SHIFTS = constant_of(3, 4, seed=5), constant_of(3, 4, seed=6)
EPS = torch.finfo(torch.float64).eps


def own_without_normalisation(case: Case) -> Case:
    """The same under the ablation: its own gradient; β is still a bias."""

    def with_beta(*inputs: Tensor) -> Tensor:
        *x, one = inputs
        y: Tensor = case.operation(*x)
        beta = channels(BETA, y) if y.dim() > 3 else BETA
        return y - beta + beta * one

    return under(LIBRA.without("normalisation"), case, with_beta)


LAYER = by(
    "layer_norm",
    lambda x: F.layer_norm(x, (4,), GAMMA, BETA),
    lambda x, one: standardised(x, (-1,)) * GAMMA + BETA * one,
    CUBE,
)

LAYERS = [
    LAYER,
    own_without_normalisation(LAYER),
    under(ALI_LRP, LAYER, LAYER.reference),
    by("layer_norm", lambda x: F.layer_norm(x, (4,)), lambda x, one: standardised(x, (-1,)), CUBE),
    by(
        "layer_norm",
        lambda x: F.layer_norm(x, (4,), GAMMA, eps=0.1),
        lambda x, one: standardised(x, (-1,), 0.1) * GAMMA,
        CUBE,
        note="no β, another ε",
    ),
    by(
        "layer_norm",
        lambda x: F.layer_norm(bias=SHIFTS, weight=TABLE, normalized_shape=[3, 4], input=x),
        lambda x, one: standardised(x, (-2, -1)) * TABLE + SHIFTS * one,
        CUBE,
        note="two dimensions, keywords",
    ),
    by(
        "layer_norm",
        lambda x: aten.layer_norm.default(x, [4], GAMMA, BETA),
        LAYER.reference,
        CUBE,
        note="aten",
    ),
    by(
        "layer_norm",
        lambda x, g, b: F.layer_norm(x, (4,), g, b),
        lambda x, g, b, one: half_each(torch.mul, standardised(x, (-1,)), g) + b,
        CUBE,
        (4,),
        (4,),
        note="live γ and β",
    ),
]

RMS = by(
    "rms_norm",
    lambda x: F.rms_norm(x, (4,), GAMMA, 0.1),
    lambda x, one: root_mean_square_norm(x, 0.1) * GAMMA,
    CUBE,
)

ROOTS = [
    RMS,
    under(LIBRA.without("normalisation"), RMS),
    by("rms_norm", lambda x: F.rms_norm(x, (4,)), lambda x, one: root_mean_square_norm(x, EPS)),
    by(
        "rms_norm",
        lambda x: F.rms_norm(eps=0.1, weight=GAMMA, normalized_shape=[4], input=x),
        RMS.reference,
        note="keywords",
    ),
]

GROUP = by(
    "group_norm",
    lambda x: F.group_norm(x, 2, GAMMA, BETA),
    lambda x, one: in_groups(x, 2) * channels(GAMMA, x) + channels(BETA, x) * one,
    IMAGE,
)

INSTANCE = by(
    "instance_norm",
    lambda x: F.instance_norm(x, weight=GAMMA, bias=BETA),
    lambda x, one: in_groups(x, 4) * channels(GAMMA, x) + channels(BETA, x) * one,
    IMAGE,
)


def standing(x: Tensor, one: Tensor) -> Tensor:
    """(x − μ) / σ, with constant μ and σ"""
    return (x - channels(MEAN, x) * one) / (channels(VARIANCE, x) + 1e-5).sqrt()


def running(x: Tensor, one: Tensor) -> Tensor:
    """(x − μ) γ / σ + β, with constant μ and σ"""
    return standing(x, one) * channels(GAMMA, x) + channels(BETA, x) * one


def over_the_batch(x: Tensor, one: Tensor) -> Tensor:
    dims = (0, *range(2, x.dim()))
    return standardised(x, dims) * channels(GAMMA, x) + channels(BETA, x) * one


TRAINING = by(
    "batch_norm",
    lambda x: F.batch_norm(x, None, None, GAMMA, BETA, training=True),
    over_the_batch,
    IMAGE,
    note="training",
)

CHANNELS = [
    GROUP,
    own_without_normalisation(GROUP),
    by("group_norm", lambda x: F.group_norm(x, 4), lambda x, one: in_groups(x, 4), (2, 4, 5)),
    by(
        "group_norm",
        lambda x: F.group_norm(bias=BETA, input=x, num_groups=2, weight=GAMMA),
        GROUP.reference,
        IMAGE,
        note="keywords",
    ),
    INSTANCE,
    own_without_normalisation(INSTANCE),
    by(
        "instance_norm",
        lambda x: F.instance_norm(x, MEAN, VARIANCE, GAMMA, BETA, use_input_stats=False),
        running,
        IMAGE,
        note="running statistics",
    ),
    by(
        "batch_norm",
        lambda x: F.batch_norm(x, MEAN, VARIANCE, GAMMA, BETA),
        running,
        IMAGE,
        note="eval",
    ),
    by(
        "batch_norm",
        lambda x: F.batch_norm(x, MEAN, VARIANCE, None, None),
        lambda x, one: (x - MEAN * one) / (VARIANCE + 1e-5).sqrt(),
        note="eval, rows, no weights",
    ),
    TRAINING,
    own_without_normalisation(TRAINING),
]


def written(name: str, f: Callable[[Tensor], Tensor], eps: float, note: str) -> Case:
    return by(name, f, lambda x, one: standardised(x, (-1,), eps), CUBE, note=note)


def by_square_root(x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.pow(2).mean(-1, keepdim=True) + 0.1).sqrt()


def by_inverse_root(x: Tensor) -> Tensor:
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + 0.1)


def by_deviation(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / x.std(-1, correction=0, keepdim=True)


def by_both(x: Tensor) -> Tensor:
    deviation, mean = torch.std_mean(x, -1, correction=0, keepdim=True)
    return (x - mean) / deviation


def rms_by_inverse_root(x: Tensor) -> Tensor:
    return GAMMA * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 0.1))


def rms_own(x: Tensor, one: Tensor) -> Tensor:
    """With every gradient its own, the ε is a bias."""
    return GAMMA * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 0.1 * one))


INVERSE_ROOT = by("rsqrt", rms_by_inverse_root, RMS.reference, CUBE, note="RMSNorm written out")

WRITTEN_OUT = [
    written("sqrt", by_square_root, 0.1, "LayerNorm written out"),
    written("var_mean", by_inverse_root, 0.1, "LayerNorm written out"),
    written("std", by_deviation, 0.0, "LayerNorm written out"),
    written("std_mean", by_both, 0.0, "LayerNorm written out"),
    INVERSE_ROOT,
    under(LIBRA.without("normalisation", "self_gating"), INVERSE_ROOT, rms_own),
    under(DECOMPX, INVERSE_ROOT, RMS.reference),
    by(
        "norm",
        lambda x: F.normalize(x, dim=-1),
        lambda x, one: x / const(x.norm(dim=-1, keepdim=True)),
        note="F.normalize",
    ),
    by(
        "linalg_vector_norm",
        lambda x: x / torch.linalg.vector_norm(x, dim=-1, keepdim=True),
        lambda x, one: x / const(x.norm(dim=-1, keepdim=True)),
        note="unit length",
    ),
]


def adaptive(
    name: str,
    f: Callable[[Tensor, Tensor, Tensor], Tensor],
    plain: Callable[[Tensor], Tensor],
) -> Case:
    """γ and β are made from the input: two values share a product."""

    def formula(x: Tensor, g: Tensor, b: Tensor, one: Tensor) -> Tensor:
        return half_each(torch.mul, plain(x), channels(g, x)) + channels(b, x)

    return by(name, f, formula, IMAGE, (4,), (4,), note="live γ and β")


ADAPTIVE = [
    adaptive("group_norm", lambda x, g, b: F.group_norm(x, 2, g, b), lambda x: in_groups(x, 2)),
    adaptive(
        "instance_norm",
        lambda x, g, b: F.instance_norm(x, weight=g, bias=b),
        lambda x: in_groups(x, 4),
    ),
    adaptive(
        "batch_norm",
        lambda x, g, b: F.batch_norm(x, None, None, g, b, training=True),
        lambda x: standardised(x, (0, 2, 3)),
    ),
    by(
        "batch_norm",
        lambda x, g, b: F.batch_norm(x, MEAN, VARIANCE, g, b),
        lambda x, g, b, one: (
            half_each(torch.mul, standing(x, one), channels(g, x)) + channels(b, x)
        ),
        IMAGE,
        (4,),
        (4,),
        note="running statistics, live γ and β",
    ),
    by(
        "rms_norm",
        lambda x, g: F.rms_norm(x, (4,), g, 0.1),
        lambda x, g, one: half_each(torch.mul, root_mean_square_norm(x, 0.1), g),
        CUBE,
        (4,),
        note="live γ",
    ),
]

CASES = [*LAYERS, *ROOTS, *CHANNELS, *WRITTEN_OUT, *ADAPTIVE]
