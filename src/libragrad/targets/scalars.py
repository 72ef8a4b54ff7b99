"""From a model's output to the explained y (B,): of classes, or by the caller's functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from libragrad.errors import TargetError
from libragrad.targets.choice import Choice
from libragrad.targets.kinds import Contrastive, Output, score
from libragrad.targets.output import class_logits, main_tensor


class Scalars(Protocol):
    """A differentiable function of the output of a batch, which knows its rows."""

    def __call__(self, output: Any) -> Tensor:
        """Return y (B,)."""

    def select(self, rows: Tensor) -> Scalars:
        """Return the same for a batch made of these rows, which may repeat."""


@dataclass(frozen=True)
class OfClasses:
    """y = Σ_k sign_k · y_{class_k}."""

    choice: Choice
    kind: Output | Contrastive

    def __call__(self, output: Any) -> Tensor:
        logits, (classes, signs) = class_logits(output), self.choice
        _same_number(len(classes), len(logits.z))
        return (signs.to(logits.z) * score(logits, classes, self.kind)).sum(1)

    def select(self, rows: Tensor) -> OfClasses:
        return replace(self, choice=Choice(*(x[rows] for x in self.choice)))


@dataclass(frozen=True)
class ByFunction:
    """y is the caller's function of the whole output."""

    function: Callable[[Any], Tensor]
    images: int

    def __call__(self, output: Any) -> Tensor:
        y = called(self.function, output)
        if y.shape != (self.images,):
            raise TargetError(
                f"the target callable returned the shape {tuple(y.shape)}; it must return one "
                f"number an image, ({self.images},)"
            )
        return _differentiable(y, output)

    def select(self, rows: Tensor) -> ByFunction:
        return replace(self, images=len(rows))


@dataclass(frozen=True)
class ByFunctions:
    """y_i is the i-th function of the i-th row of the output's main tensor."""

    functions: tuple[Callable[[Any], Tensor], ...]

    def __call__(self, output: Any) -> Tensor:
        z = main_tensor(output)
        _same_number(len(self.functions), len(z))
        y = [called(function, row) for function, row in zip(self.functions, z, strict=True)]
        for one in y:
            if one.numel() != 1:
                raise TargetError(
                    f"the target callable of an image returned the shape {tuple(one.shape)}; it "
                    "takes that image's row of the output and must return one number"
                )
        return _differentiable(torch.stack([one.reshape(()) for one in y]), output)

    def select(self, rows: Tensor) -> ByFunctions:
        return ByFunctions(tuple(self.functions[i] for i in rows.tolist()))


def called(function: Callable[[Any], Tensor], output: Any) -> Tensor:
    """Return what the caller's function makes of the output, if it is a tensor."""
    y = function(output)
    if not isinstance(y, Tensor):
        raise TargetError(f"the target callable returned {type(y).__name__}, not a tensor")
    return y


def _differentiable(y: Tensor, output: Any) -> Tensor:
    if not y.is_floating_point():
        raise TargetError(f"the target callable returned {y.dtype}, which has no gradient")
    if bool(y.detach().isnan().any()):
        raise TargetError("the target callable returned NaN")
    if main_tensor(output).requires_grad and torch.is_grad_enabled() and not y.requires_grad:
        raise TargetError(
            "the target callable returned a number without a gradient: compute it from the "
            "output by differentiable operations, without detach(), item() or argmax()"
        )
    return y


def _same_number(goal: int, output: int) -> None:
    if goal != output:
        raise TargetError(
            f"the goal is of {goal} images and the output of {output}: take the goal's rows with "
            "select()"
        )
