"""Piecewise linear, f(tx) = t f(x) for t > 0: the own gradient is complete, by Euler."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.cases.shorthand import CUBE, IMAGE, aten, methods, own

VOLUME = (1, 2, 4, 5, 6)
SLOPE = torch.tensor([0.25, -0.5, 0.1], dtype=torch.float64)
SAMPLES = torch.full((2, 4, 2), 0.3, dtype=torch.float64)

RECTIFIERS = [
    own("relu", torch.relu),
    own("relu", lambda x: F.relu(input=x), note="keyword"),
    own("relu", lambda x: F.relu(x.clone(), inplace=True), note="in place"),
    own("relu", lambda x: x.clone().relu_(), note="method in place"),
    own("relu", lambda x: torch.relu_(input=x.clone()), note="function in place by keyword"),
    own("relu", aten.relu.default, note="aten"),
    own("leaky_relu", lambda x: F.leaky_relu(x, negative_slope=0.2)),
    own("leaky_relu", lambda x: F.leaky_relu(x.clone(), 0.2, True), note="in place"),
    own("prelu", lambda x: F.prelu(x, SLOPE), (2, 3, 4)),
    own("_prelu_kernel", lambda x: torch._prelu_kernel(x, SLOPE[:, None]), (2, 3, 4)),
    own("rrelu", lambda x: F.rrelu(x, training=False)),
    *methods("abs absolute"),
    own("abs", abs, note="operator"),
    own("abs", lambda x: x.clone().abs_(), note="in place"),
]

NORMS = [
    own("norm", lambda x: x.norm(dim=-1)),
    own("norm", lambda x: torch.norm(x, p=1, dim=0, keepdim=True), note="keywords"),
    own("norm", lambda x: x.norm(p=torch.inf), note="infinite"),
    own("linalg_norm", torch.linalg.norm),
    own("linalg_vector_norm", lambda x: torch.linalg.vector_norm(x, 3, dim=1)),
    own("linalg_matrix_norm", lambda x: torch.linalg.matrix_norm(x, "nuc")),
    own("std", lambda x: x.std(1)),
    own("std", lambda x: torch.std(x, dim=0, correction=0), note="keywords"),
]

POOLS = [
    own("max_pool1d", lambda x: F.max_pool1d(x, 2), CUBE),
    own("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1), IMAGE),
    own("max_pool3d", lambda x: F.max_pool3d(x, 2), VOLUME),
    own("max_pool1d_with_indices", lambda x: F.max_pool1d(x, 2, return_indices=True), CUBE),
    own("max_pool2d_with_indices", lambda x: F.max_pool2d(x, 2, return_indices=True), IMAGE),
    own("max_pool3d_with_indices", lambda x: F.max_pool3d(x, 2, return_indices=True), VOLUME),
    own("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 2), CUBE),
    own("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, 2), IMAGE),
    own("adaptive_max_pool3d", lambda x: F.adaptive_max_pool3d(x, 2), VOLUME),
    *[
        own(
            f"adaptive_max_pool{d}d_with_indices",
            lambda x, d=d: getattr(F, f"adaptive_max_pool{d}d")(x, 2, return_indices=True),
            shape,
        )
        for d, shape in ((1, CUBE), (2, IMAGE), (3, VOLUME))
    ],
    own(
        "fractional_max_pool2d",
        lambda x: F.fractional_max_pool2d(x, 2, output_size=3, _random_samples=SAMPLES),
        IMAGE,
    ),
    own(
        "max_unpool2d",
        lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), (2, 2)),
        (2, 4, 6, 4),
    ),
]

ORDERS = [
    *methods("amax amin", 1),
    own("aminmax", lambda x: x.aminmax(dim=1)),
    *methods("sort msort"),
    *methods("cummax cummin kthvalue median nanmedian mode", 1),
    own("topk", lambda x: x.topk(2, dim=1)),
]

CASES = [*RECTIFIERS, *NORMS, *POOLS, *ORDERS]
