"""Short ways to write a case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from libragrad import Preset
from tests.checks import Case, draw
from tests.reference.formulas import unchanged

MATRIX = (3, 4)
CUBE = (2, 3, 4)
IMAGE = (2, 4, 6, 5)

aten = torch.ops.aten


def own(name: str, operation: Callable[..., Any], *shapes: tuple[int, ...], **more: Any) -> Case:
    """The operation's own gradient, and no bias: it is linear or 1-homogeneous."""
    return Case(name, operation, unchanged(operation), shapes or (MATRIX,), **more)


def methods(names: str, *args: object, shape: tuple[int, ...] = MATRIX) -> list[Case]:
    """As `own`, for several names that are called as methods with the same arguments."""

    def case(name: str) -> Case:
        return own(name, lambda x: getattr(x, name)(*args), shape)

    return [case(name) for name in names.split()]


def by(
    name: str,
    operation: Callable[..., Any],
    reference: Callable[..., Tensor],
    *shapes: tuple[int, ...],
    **more: Any,
) -> Case:
    """The gradient and the bias of a formula in the same inputs and `one`."""
    return Case(name, operation, reference, shapes or (MATRIX,), **more)


def plus(
    name: str,
    operation: Callable[..., Any],
    *constants: Tensor,
    shapes: tuple[tuple[int, ...], ...] = (MATRIX,),
    **more: Any,
) -> Case:
    """Affine: the own gradient; what the constants (the last arguments) add is a bias."""
    return Case(
        name,
        lambda *x: operation(*x, *constants),
        lambda *x: operation(*x[:-1], *(c * x[-1] for c in constants)),
        shapes,
        **more,
    )


def constant_of(*shape: int, seed: int = 50, positive: bool = False) -> Tensor:
    """A constant operand of a model."""
    return draw(*shape, seed=seed, positive=positive)


def mixed(x: Tensor) -> Tensor:
    """A complex tensor whose two parts depend on x."""
    return torch.view_as_complex(x.unflatten(-1, (-1, 2)))


def real(z: Tensor) -> Tensor:
    """Real and imaginary part as one real tensor."""
    return torch.view_as_real(z.resolve_conj())


def under(preset: Preset, case: Case, reference: Callable[..., Tensor] | None = None) -> Case:
    """The same operation under another preset; without a reference, its own gradient."""
    return replace(case, preset=preset, reference=reference or unchanged(case.operation))
