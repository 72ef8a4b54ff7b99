"""Which classes a target means, image by image."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from libragrad.errors import TargetError
from libragrad.targets.names import find_label, short_name
from libragrad.targets.output import ClassLogits
from libragrad.targets.specs import WORDS, Contrast, Predicted, Prompt


class Choice(NamedTuple):
    """Classes (B, K) and their signs (B, K): what is explained is Σ_k sign_k · y_{class_k}."""

    classes: Tensor
    signs: Tensor


def choose(target: Any, logits: ClassLogits, labels: Sequence[str] | None) -> Choice:
    """Return the classes that the target means, one row an image.

    >>> logits = ClassLogits(torch.tensor([[1.0, 3.0, 2.0], [9.0, 4.0, 5.0]]))
    >>> choose([Contrast("predicted", "second"), 2], logits, None)
    Choice(classes=tensor([[1, 2], [2, 2]]), signs=tensor([[ 1., -1.], [ 1.,  0.]]))
    """
    images = len(logits.z)
    if isinstance(target, Sequence) and not isinstance(target, str):
        if len(target) != images:
            raise _wrong_number(len(target), images)
        return _stacked(
            [
                choose(_of_one_image(one), ClassLogits(logits.z[i : i + 1], logits.binary), labels)
                for i, one in enumerate(target)
            ]
        )
    if isinstance(target, Contrast):
        pair = [_indices(side, logits, labels) for side in (target.a, target.b)]
        return Choice(torch.stack(pair, 1), logits.z.new_tensor([[1.0, -1.0]]).expand(images, 2))
    classes = _indices(target, logits, labels)[:, None]
    return Choice(classes, torch.ones_like(classes, dtype=logits.z.dtype))


def name_classes(choice: Choice, labels: Sequence[str] | None) -> tuple[str, ...]:
    """Return what is explained of each image, as people read it.

    >>> name_classes(Choice(torch.tensor([[0, 1]]), torch.tensor([[1, -1]])), ["zebra", "horse"])
    ('zebra − horse',)
    """

    def name(index: int) -> str:
        return short_name(labels[index]) if labels else f"class {index}"

    rows = zip(choice.classes.tolist(), choice.signs.tolist(), strict=True)
    return tuple(
        " − ".join(name(i) for i, sign in zip(classes, signs, strict=True) if sign)
        for classes, signs in rows
    )


def _indices(target: Any, logits: ClassLogits, labels: Sequence[str] | None) -> Tensor:
    """Return one class index an image, (B,)."""
    z = logits.z.detach()
    images, count = z.shape
    if isinstance(target, str):
        target = WORDS.get(target.casefold(), target)
    if target is None or isinstance(target, Predicted):
        rank = 1 if target is None else target.rank
        if rank > count:
            raise TargetError(f"there is no class of rank {rank}: the output has {count} classes")
        return z.topk(rank, dim=1).indices[:, -1]
    if isinstance(target, (str, Prompt)):
        target = _named(target, labels, count)
    index = _integers(target).to(z.device)
    if index.dim() > 1:
        raise TargetError(f"targets are one index an image, not of shape {tuple(index.shape)}")
    if index.dim() and len(index) != images:
        raise _wrong_number(len(index), images)
    if bool((index >= count).any()) or bool((index < -count).any()):
        raise TargetError(
            f"target {index.tolist()} is out of range: the output has {count} classes"
            + (" (one logit: 0 is negative, 1 is positive)" if logits.binary else "")
        )
    return (index % count).expand(images)


def _integers(target: Any) -> Tensor:
    if isinstance(target, (Tensor, np.ndarray)):
        given = torch.as_tensor(target)
        if given.is_floating_point() or given.is_complex() or given.dtype == torch.bool:
            raise TargetError(f"a target index must be an integer, not {given.dtype}")
        return given.long()
    try:
        if isinstance(target, (bool, np.bool_)):
            raise TypeError
        index = operator.index(target)
    except TypeError:
        raise TargetError(
            f"a target is a class index, a label, Predicted, Contrast or Prompt, a sequence of "
            f"these (one an image), or a callable on the output; got {target!r}"
        ) from None
    if index.bit_length() > 63:  # more than a tensor can hold
        raise TargetError(f"target {index} is out of range: no output has so many classes")
    return torch.tensor(index)


def _named(target: str | Prompt, labels: Sequence[str] | None, count: int) -> int:
    text = target.text if isinstance(target, Prompt) else target
    if labels is None:
        raise TargetError(
            f"{text!r} cannot be looked up: the model does not name its {count} outputs; give "
            "labels=[...], one name an output, or the class index"
        )
    if isinstance(target, str):
        return find_label(text, labels)
    if text not in labels:
        raise TargetError(
            f"the prompt {text!r} is not among those that the model was given: "
            f"{', '.join(map(repr, labels[:8]))}; use PromptModel(model, prompts)"
        )
    return list(labels).index(text)


def _of_one_image(target: Any) -> Any:
    if callable(target) or (isinstance(target, Sequence) and not isinstance(target, str)):
        raise TargetError(
            "in a sequence, each image's target is an index, a label, Predicted, Contrast or "
            f"Prompt, or each is a callable; got {type(target).__name__}"
        )
    return target


def _stacked(rows: Sequence[Choice]) -> Choice:
    """Put images below each other; one with fewer classes repeats its first, with the sign 0."""
    width = max((row.classes.shape[1] for row in rows), default=1)
    classes = [
        torch.cat([r.classes, *[r.classes[:, :1]] * (width - r.classes.shape[1])], 1) for r in rows
    ]
    signs = [
        torch.cat([r.signs, *[0 * r.signs[:, :1]] * (width - r.signs.shape[1])], 1) for r in rows
    ]
    return Choice(torch.cat(classes), torch.cat(signs))


def _wrong_number(given: int, images: int) -> TargetError:
    return TargetError(f"{given} targets were given for {images} images: give one, or one an image")
