"""Operations that PyTorch fuses out of several, by the rules of their parts."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from libragrad import LIBRA, STANDARD
from tests.cases.shorthand import CUBE, IMAGE, MATRIX, aten, by, constant_of, own, under
from tests.reference.formulas import const, half_each, third_each

C = constant_of(*MATRIX)
POSITIVE = constant_of(*MATRIX, positive=True)
CUBOID = constant_of(5, 4, 3)
FIVE = constant_of(5)
GRID = constant_of(2, 3, 3, 2).tanh()
VOLUME_GRID = constant_of(1, 2, 2, 2, 3).tanh()


def cosine(a: Tensor, b: Tensor, one: Tensor) -> Tensor:
    """[1 / (‖a‖ ‖b‖)] Σ a b, half to each"""
    norms = const(a.norm(dim=1) * b.norm(dim=1))
    return half_each(lambda a, b: (a * b).sum(1), a, b) / norms


def trilinear(a: Tensor, b: Tensor) -> Tensor:
    return torch.einsum("ni,oij,nj->no", a, CUBOID, b)


def mixture(a: Tensor, b: Tensor, w: Tensor, one: Tensor) -> Tensor:
    return a + half_each(torch.mul, w, b - a)


COSINE = by("cosine_similarity", F.cosine_similarity, cosine, MATRIX, MATRIX)


def squared(a: Tensor, b: Tensor) -> Tensor:
    return (a - b) * const(a - b)


HYPOTENUSE = by(
    "hypot",
    torch.hypot,
    lambda a, b, one: (a * const(a) + b * const(b)) / const(torch.hypot(a, b)),
    MATRIX,
    MATRIX,
)

FUSED = [
    COSINE,
    under(STANDARD, COSINE),
    by(
        "cosine_similarity",
        lambda a, b: F.cosine_similarity(a, b, dim=-2),
        lambda a, b, one: cosine(a.expand(2, 4, 3), b.expand(2, 4, 3), one),
        (1, 4, 3),
        (2, 1, 3),
        note="broadcast",
    ),
    by(
        "cosine_similarity",
        lambda a: F.cosine_similarity(x2=C, x1=a, dim=0),
        lambda a, one: (a * C / const(a.norm(dim=0) * C.norm(dim=0))).sum(0),
        note="with a constant, keywords",
    ),
    by(
        "bilinear",
        lambda a, b: F.bilinear(a, b, CUBOID, FIVE),
        lambda a, b, one: half_each(trilinear, a, b) + FIVE * one,
        MATRIX,
        (3, 3),
    ),
    by(
        "bilinear",
        lambda a, w, b: F.bilinear(a, b, w),
        lambda a, w, b, one: third_each(
            lambda a, w, b: torch.einsum("ni,oij,nj->no", a, w, b), a, w, b
        ),
        MATRIX,
        (5, 4, 3),
        (3, 3),
        note="live weight",
    ),
    by(
        "addcdiv",
        lambda a, b: torch.addcdiv(C, a, b, value=2),
        lambda a, b, one: C * one + 2 * a / const(b),
        MATRIX,
        MATRIX,
    ),
    by("lerp", torch.lerp, mixture, MATRIX, MATRIX, MATRIX),
    own("lerp", lambda a, b: torch.lerp(a, b, 0.3), MATRIX, MATRIX, note="number"),
    by(
        "lerp",
        lambda a: a.lerp(C, POSITIVE),
        lambda a, one: a + POSITIVE * (C * one - a),
        note="constant end",
    ),
    HYPOTENUSE,
    under(STANDARD, HYPOTENUSE),
    by("mse_loss", F.mse_loss, lambda a, b, one: squared(a, b).mean(), MATRIX, MATRIX),
    by(
        "mse_loss",
        lambda a, b: F.mse_loss(a, b, reduction="sum"),
        lambda a, b, one: squared(a, b).sum(),
        MATRIX,
        MATRIX,
        note="sum",
    ),
    by(
        "mse_loss",
        lambda a, b: F.mse_loss(a, b, reduction="none"),
        lambda a, b, one: squared(a, b),
        MATRIX,
        MATRIX,
        note="not reduced",
    ),
    own("cdist", torch.cdist, CUBE, (2, 5, 4)),
    own("cdist", lambda a, b: torch.cdist(a, b, p=1), MATRIX, (2, 4), note="p = 1"),
]


def sampled(image: Tensor, grid: Tensor, one: Tensor) -> Tensor:
    return F.grid_sample(image, const(grid), align_corners=False)


SAMPLE = by(
    "grid_sample",
    lambda image, grid: F.grid_sample(image, grid, align_corners=False),
    sampled,
    IMAGE,
    (2, 3, 3, 2),
)

SAMPLED = [
    SAMPLE,
    under(LIBRA.without("attention"), SAMPLE),
    by(
        "grid_sample",
        lambda image, grid: F.grid_sample(grid=grid, input=image, align_corners=False),
        sampled,
        IMAGE,
        (2, 3, 3, 2),
        note="keywords",
    ),
    own("grid_sampler", lambda x: torch.grid_sampler(x, GRID, 0, 0, True), IMAGE),
    own("grid_sampler_2d", lambda x: aten.grid_sampler_2d(x, GRID, 0, 1, True), IMAGE),
    own(
        "grid_sampler_3d",
        lambda x: aten.grid_sampler_3d(x, VOLUME_GRID, 0, 0, True),
        (1, 2, 3, 4, 5),
    ),
]

CASES = [*FUSED, *SAMPLED]
