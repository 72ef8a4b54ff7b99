"""Completeness error: what the map leaves unexplained of the output."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from libragrad.metrics.estimate import Estimate, mean_estimate

__all__ = ["completeness_error", "pooled_relative_error", "relative_completeness_error"]


def completeness_error(
    attribution: Tensor, y: Tensor, unattributed: Tensor | float = 0.0
) -> Tensor:
    """|Σ_t a_t + u − y|, one number an image; lower is better, 0 is complete.

    `attribution` (images, …) holds *all* tokens, prefix included; `y` (images,) is the explained
    scalar; `unattributed` u is what belongs to no token, a head bias for instance.

    >>> import torch
    >>> completeness_error(
    ...     torch.tensor([[1.0, 2.0], [0.5, 0.5]]), torch.tensor([3.0, 3.0])
    ... ).tolist()
    [0.0, 2.0]
    """
    return _residual(attribution, y, unattributed).abs()


def relative_completeness_error(
    attribution: Tensor, y: Tensor, unattributed: Tensor | float = 0.0
) -> Tensor:
    """|Σ_t a_t + u − y| / |y|, one number an image; lower is better.

    0 where both vanish, infinite where only y does. Near y = 0 it says little: for a data set
    prefer `pooled_relative_error`.

    >>> import torch
    >>> relative_completeness_error(torch.tensor([[1.0, 2.0]]), torch.tensor([4.0])).tolist()
    [0.25]
    """
    error = _residual(attribution, y, unattributed).abs()
    return torch.where(error == 0, error, error / y.double().abs())


def pooled_relative_error(error: Tensor, y: Tensor) -> Estimate:
    """mean |error| / mean |y| over images: the relative error of a data set.

    `error` and `y` are the per-image errors and explained scalars, (images,). The standard error
    is that of a ratio of means, to first order: √(Σ(e_i − r|y_i|)² / (n(n − 1))) / mean|y|.

    >>> import torch
    >>> pooled_relative_error(torch.tensor([1.0, 2.0]), torch.tensor([10.0, -20.0]))
    Estimate(value=0.1, standard_error=0.0, count=2)
    """
    if error.shape != y.shape:
        raise ValueError(f"got {tuple(error.shape)} errors but {tuple(y.shape)} outputs")
    size = y.double().abs()
    mean_size = mean_estimate(size).value
    if mean_size == 0:
        raise ValueError("every explained scalar is 0: there is nothing to be relative to")
    ratio = mean_estimate(error.double()).value / mean_size
    rest = mean_estimate(error.double() - ratio * size)
    spread = rest.standard_error
    return Estimate(ratio, spread if math.isnan(spread) else spread / mean_size, rest.count)


def _residual(attribution: Tensor, y: Tensor, unattributed: Tensor | float) -> Tensor:
    if attribution.ndim < 2 or y.shape != attribution.shape[:1]:
        raise ValueError(
            "expected attribution (images, …) and one explained scalar an image; got "
            f"{tuple(attribution.shape)} and {tuple(y.shape)}"
        )
    return attribution.double().flatten(1).sum(dim=1) + unattributed - y.double()
