"""Targets as Captum and Quantus mean them: a place in the output, not a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from libragrad.errors import TargetError


@dataclass(frozen=True)
class Entry:
    """One entry of the output of one image; without a place, its only one.

    >>> Entry((1,))(torch.tensor([5.0, 6.0])), Entry()(torch.tensor([7.0]))
    (tensor(6.), tensor(7.))
    """

    place: tuple[int, ...] | None = None

    def __call__(self, row: Tensor) -> Tensor:
        if self.place is None:
            if row.numel() != 1:
                raise TargetError(
                    f"target= is needed: each image's output has {row.numel()} entries. "
                    "target='predicted' explains the class with the largest logit."
                )
            return row.reshape(())
        if len(self.place) != row.dim():
            raise TargetError(
                f"target {self.place} has {len(self.place)} indices, and each image's output has "
                f"{row.dim()} dimensions: {tuple(row.shape)}"
            )
        try:
            return row[self.place]
        except IndexError:
            raise TargetError(
                f"target {self.place} is out of range: each image's output is {tuple(row.shape)}"
            ) from None


def entries(target: Any, images: int) -> Any:
    """Return an `Entry` for each image where the target is of numbers; any other is left alone.

    An index or a tuple of indices is meant for all images; a list, an array or a tensor holds one
    for each.

    >>> entries(3, 2)
    [Entry(place=(3,)), Entry(place=(3,))]
    >>> entries([(0, 1), (2, 3)], 2)
    [Entry(place=(0, 1)), Entry(place=(2, 3))]
    >>> entries("zebra", 2)
    'zebra'
    """
    if target is None:
        return [Entry()] * images
    if isinstance(target, (Tensor, np.ndarray)):
        index = torch.as_tensor(target)
        if index.is_floating_point() or index.dtype == torch.bool:
            raise TargetError(f"a target index must be an integer, not {index.dtype}")
        target = index.tolist() if index.numel() > 1 else int(index)
    if _is_place(target):
        return [Entry(_place(target))] * images
    if isinstance(target, list) and target and all(_is_place(one) for one in target):
        if len(target) not in (1, images):
            raise TargetError(f"{len(target)} targets were given for {images} images")
        return [Entry(_place(one)) for one in target] * (images if len(target) == 1 else 1)
    return target


def _is_place(target: Any) -> bool:
    if isinstance(target, tuple):
        return bool(target) and all(_is_place(i) for i in target)
    return isinstance(target, (int, np.integer)) and not isinstance(target, bool)


def _place(target: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(int(i) for i in target) if isinstance(target, tuple) else (int(target),)  # type: ignore[arg-type]
