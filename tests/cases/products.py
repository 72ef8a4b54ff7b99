"""Products: halves for two values, a constant gate, linear with a constant factor."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from libragrad import ATTN_LRP, CP_LRP, DECOMPX, LIBRA
from tests.cases.shorthand import CUBE, IMAGE, MATRIX, aten, by, constant_of, own, plus, under
from tests.checks import Case
from tests.reference.formulas import const, half_each, secant, third_each

C = constant_of(*MATRIX)
SQUARE = constant_of(4, 4)
PER_CHANNEL = constant_of(5)
KERNELS = {d: constant_of(5, 4, *[2] * d) for d in (1, 2, 3)}
ODD = constant_of(5, 4, 3, 3)
PIXELS: dict[int, tuple[int, ...]] = {1: (2, 4, 5), 2: IMAGE, 3: (1, 4, 3, 4, 5)}

sigmoid = secant(torch.sigmoid)
tanh = secant(torch.tanh)


def halves(name: str, f: Callable[..., Tensor], *shapes: tuple[int, ...], note: str = "") -> Case:
    """A product of two values."""
    return by(name, f, lambda a, b, one: half_each(f, a, b), *shapes, note=note)


def in_place(x: Tensor, other: Tensor) -> Tensor:
    return x.clone().mul_(other)


def augmented(x: Tensor, other: Tensor) -> Tensor:
    x = x.clone()
    x *= other
    return x


def chained(a: Tensor, b: Tensor) -> Tensor:
    with warnings.catch_warnings():  # PyTorch deprecates it
        warnings.simplefilter("ignore")
        y: Tensor = torch.chain_matmul(a, b)
    return y


TWO_VALUES = halves("mul", torch.mul, MATRIX, (1, 4))

ELEMENTWISE = [
    TWO_VALUES,
    under(DECOMPX, TWO_VALUES),
    under(CP_LRP, TWO_VALUES, TWO_VALUES.reference),
    halves("mul", lambda a, b: a * b, MATRIX, MATRIX, note="operator"),
    halves("mul", in_place, MATRIX, (4,), note="in place"),
    halves("mul", augmented, MATRIX, (4,), note="augmented"),
    halves("mul", aten.mul.Tensor, MATRIX, MATRIX, note="aten"),
    halves("mul", lambda a, b: torch.mul(other=b, input=a), MATRIX, MATRIX, note="keywords"),
    halves("multiply", torch.multiply, MATRIX, MATRIX),
    by("mul", lambda x: x * x, lambda x, one: half_each(torch.mul, x, x), note="one tensor twice"),
    own("mul", lambda x: 3 * x, note="integer"),
    own("mul", lambda x: x * C, note="constant"),
    own("mul", lambda x: in_place(x, C), note="constant in place"),
    by("mul", lambda x: x * x.sigmoid(), lambda x, one: x * const(x.sigmoid()), note="gate"),
    by(
        "mul",
        lambda x, y: x.sigmoid() * y.tanh(),
        lambda x, y, one: half_each(torch.mul, sigmoid(x, one), tanh(y, one)),
        MATRIX,
        MATRIX,
        note="two gates",
    ),
]

GATED_MLP = by(
    "mul",
    lambda x, y: F.silu(x) * y,
    lambda x, y, one: half_each(torch.mul, x * const(x.sigmoid()), y),
    MATRIX,
    MATRIX,
    note="SwiGLU",
)
ACTIVATED = [
    GATED_MLP,
    under(CP_LRP, GATED_MLP, lambda x, y, one: const(F.silu(x)) * y),
    under(DECOMPX, GATED_MLP, lambda x, y, one: x * const(x.sigmoid()) * y),
    under(
        LIBRA.without("activation"),
        GATED_MLP,
        lambda x, y, one: half_each(torch.mul, F.silu(x), y),
    ),
]

TWO_MATRICES = halves("matmul", torch.matmul, (2, 3, 4), (4, 5))
MATRICES = [
    TWO_MATRICES,
    under(ATTN_LRP, TWO_MATRICES, TWO_MATRICES.reference),
    under(LIBRA.without("attention"), TWO_MATRICES),
    halves("matmul", lambda a, b: a @ b, MATRIX, (4, 2), note="operator"),
    halves("matmul", aten.matmul.default, MATRIX, (4, 2), note="aten"),
    by("matmul", lambda x: x @ x.T, lambda x, one: half_each(torch.matmul, x, x.T), note="Gram"),
    own("matmul", lambda x: x @ SQUARE, note="constant"),
    own("matmul", lambda x: C.T @ x, note="constant on the left"),
    own("rmatmul", lambda x: x.__rmatmul__(C.T)),
    by(
        "matmul",
        lambda s, v: s.softmax(-1) @ v,
        lambda s, v, one: const(s.softmax(-1)) @ v,
        (2, 3, 3),
        (2, 3, 4),
        note="attention weights",
    ),
    halves("mm", torch.mm, MATRIX, (4, 2)),
    halves("bmm", torch.bmm, CUBE, (2, 4, 3)),
    halves("mv", torch.mv, MATRIX, (4,)),
    halves("dot", torch.dot, (4,), (4,)),
    halves("vdot", torch.vdot, (4,), (4,)),
    halves("inner", torch.inner, MATRIX, (2, 4)),
    halves("outer", torch.outer, (3,), (4,)),
    halves("ger", torch.ger, (3,), (4,)),
    halves("kron", torch.kron, (2,), (3,)),
    halves("tensordot", lambda a, b: torch.tensordot(a, b, dims=1), MATRIX, (4, 2)),
    halves("einsum", lambda a, b: torch.einsum("ij,jk->ik", a, b), MATRIX, (4, 2)),
    own("einsum", lambda x: torch.einsum("ij,jk,kl->il", C.T, x, SQUARE), note="constants"),
    by(
        "einsum",
        lambda a, b, c: torch.einsum("ij,j,jk->ik", a, b, c),
        lambda a, b, c, one: third_each(lambda a, b, c: (a * b) @ c, a, b, c),
        MATRIX,
        (4,),
        (4, 2),
        note="three values",
    ),
    by(
        "linalg_multi_dot",
        lambda a, b, c: torch.linalg.multi_dot([a, b, c]),
        lambda a, b, c, one: third_each(lambda a, b, c: a @ b @ c, a, b, c),
        (2, 3),
        MATRIX,
        (4, 2),
    ),
    halves("chain_matmul", chained, MATRIX, (4, 2)),
    halves("linalg_vecdot", torch.linalg.vecdot, MATRIX, MATRIX),
]

ROW = constant_of(3)
TALL = constant_of(3, 4)
LAYERS = [
    plus("linear", lambda x, b: F.linear(x, TALL, b), ROW),
    plus("linear", lambda x, b: F.linear(bias=b, input=x, weight=TALL), ROW, note="out of order"),
    plus("linear", lambda x, b: F.linear(x, TALL, b), ROW, shapes=((4,),), note="one row"),
    plus("linear", lambda x, b: F.linear(x, TALL, b), ROW, shapes=((2, 2, 4),), note="batch"),
    own("linear", lambda x: F.linear(x, TALL), note="no bias"),
    own("linear", lambda x: F.linear(x, TALL)[..., 1:2], note="one column used"),
    own("linear", lambda x, b: F.linear(x, TALL, b), MATRIX, (3,), note="live bias"),
    plus("linear", lambda w, b: F.linear(C, w, b), ROW, shapes=((3, 4),), note="live weight"),
    by(
        "linear",
        lambda x, w: F.linear(x, w, ROW),
        lambda x, w, one: half_each(lambda a, b: a @ b.T, x, w) + ROW * one,
        MATRIX,
        (3, 4),
        note="two values",
    ),
    by(
        "linear",
        lambda x, w: F.linear(x, w.softmax(-1)),
        lambda x, w, one: x @ const(w.softmax(-1)).T,
        MATRIX,
        (3, 4),
        note="weight of attention",
    ),
    *[
        plus(
            f"conv{d}d",
            lambda x, b, d=d: getattr(F, f"conv{d}d")(x, KERNELS[d], b, padding=1),
            PER_CHANNEL,
            shapes=(PIXELS[d],),
        )
        for d in (1, 2, 3)
    ],
    *[
        plus(
            f"conv_transpose{d}d",
            lambda x, b, d=d: getattr(F, f"conv_transpose{d}d")(
                x, KERNELS[d].transpose(0, 1), b, 2
            ),
            PER_CHANNEL,
            shapes=(PIXELS[d],),
        )
        for d in (1, 2, 3)
    ],
    own("conv2d", lambda x: F.conv2d(x, ODD, padding="same"), IMAGE, note="same, no bias"),
    own("conv2d", lambda x: F.conv2d(x, KERNELS[2][:4, :2], groups=2), IMAGE, note="groups"),
    plus(
        "conv2d",
        lambda x, b: F.conv2d(weight=KERNELS[2], input=x, bias=b, stride=2, dilation=2),
        PER_CHANNEL,
        shapes=(IMAGE[1:],),
        note="keywords, one image",
    ),
    by(
        "conv2d",
        lambda x, w: F.conv2d(x, w, PER_CHANNEL),
        lambda x, w, one: half_each(F.conv2d, x, w) + PER_CHANNEL[:, None, None] * one,
        IMAGE,
        (5, 4, 2, 2),
        note="two values",
    ),
]

ADDED = [
    plus("addmm", lambda x, c: torch.addmm(c, x, SQUARE), C),
    plus("addmm", lambda x, c: torch.addmm(c, x, SQUARE, beta=0.5, alpha=2), C, note="factors"),
    plus("addmm", lambda x, c: torch.addmm(mat2=SQUARE, input=c, mat1=x), C, note="keywords"),
    by(
        "addmm",
        lambda c, a, b: c.addmm(a, b, beta=3, alpha=2),
        lambda c, a, b, one: 3 * c + 2 * half_each(torch.mm, a, b),
        MATRIX,
        (3, 2),
        (2, 4),
        note="all values",
    ),
    by(
        "addmm",
        lambda x: torch.addmm(x, x, x),
        lambda x, one: x + half_each(torch.mm, x, x),
        (3, 3),
        note="one tensor in three places",
    ),
    by(
        "addcmul",
        lambda x, y: torch.addcmul(tensor1=x, input=x, tensor2=y),
        lambda x, y, one: x + half_each(torch.mul, x, y),
        MATRIX,
        MATRIX,
        note="one tensor in two places, keywords",
    ),
    by(
        "addmv",
        lambda a, b: torch.addmv(ROW, a, b),
        lambda a, b, one: ROW * one + half_each(torch.mv, a, b),
        MATRIX,
        (4,),
    ),
    by(
        "addbmm",
        lambda a, b: torch.addbmm(C, a, b),
        lambda a, b, one: C * one + half_each(torch.bmm, a, b).sum(0),
        (2, 3, 5),
        (2, 5, 4),
    ),
    by(
        "baddbmm",
        lambda a, b: torch.baddbmm(C, a, b, beta=2),
        lambda a, b, one: 2 * C * one + half_each(torch.bmm, a, b),
        (2, 3, 5),
        (2, 5, 4),
    ),
    by(
        "addcmul",
        lambda a, b: torch.addcmul(C, a, b, value=3),
        lambda a, b, one: C * one + 3 * half_each(torch.mul, a, b),
        MATRIX,
        (4,),
    ),
    by(
        "addcmul",
        lambda a, b: a.clone().addcmul_(b, C),
        lambda a, b, one: a + b * C,
        MATRIX,
        MATRIX,
        note="in place",
    ),
]

CASES = [*ELEMENTWISE, *ACTIVATED, *MATRICES, *LAYERS, *ADDED]
