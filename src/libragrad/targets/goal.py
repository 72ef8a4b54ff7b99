"""What is explained: one scalar an image, computed from the model's output outside the mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from libragrad.errors import TargetError
from libragrad.targets.choice import Choice, choose, name_classes
from libragrad.targets.kinds import Contrastive, Output, score
from libragrad.targets.output import ClassLogits, as_leaves, class_logits, main_tensor
from libragrad.targets.similarity import Similarity
from libragrad.targets.specs import Target


@dataclass(frozen=True)
class Goal:
    """What is explained of each image of a batch.

    >>> from libragrad.targets import Contrast
    >>> goal = goals(Contrast(0, 1), torch.tensor([[3.0, 1.0]]), labels=["zebra", "horse"])
    >>> goal.labels, goal.scalars(torch.tensor([[5.0, 4.0]]))
    (('zebra − horse',), tensor([1.]))
    """

    labels: tuple[str, ...]
    """As people read it: "zebra", "zebra − African elephant", "a photo of a spoon"."""
    indices: Tensor | None
    """Class indices (B,), of a contrast its first; None for a callable."""
    scalars: Callable[[Any], Tensor]
    """From the model's output to the explained y (B,), differentiable."""

    def linear(self, output: Any) -> Tensor:
        """Return ⟨∂y/∂z, z⟩ of each image (B,) for the output z: what a complete map adds up to.

        It is y itself for a logit or a contrast; for a probability p_t (z_t − Σ_j p_j z_j).

        >>> z = torch.tensor([[2.0, 0.0]])
        >>> goals(0, z).linear(z)
        tensor([2.])
        """
        leaves: list[Tensor] = []
        with torch.enable_grad():
            y = self.scalars(as_leaves(output, leaves))
            if not leaves:
                raise TargetError(
                    f"the output is a {type(output).__name__}, whose tensors cannot be replaced; "
                    "return a tensor, a tuple or a dictionary from the model"
                )
            grads: Sequence[Tensor | None] = torch.autograd.grad(y.sum(), leaves, allow_unused=True)
        used = [(g, z.detach()) for g, z in zip(grads, leaves, strict=True) if g is not None]
        return torch.stack([(g * z).reshape(len(y), -1).sum(1) for g, z in used]).sum(0)

    def select(self, rows: Tensor) -> Goal:
        """Return the goal of a batch made of these rows, which may repeat.

        >>> goals([0, 1], torch.eye(2)).select(torch.tensor([1, 1, 0])).indices
        tensor([1, 1, 0])
        """
        labels = tuple(self.labels[i] for i in rows.tolist())
        indices = None if self.indices is None else self.indices[rows]
        scalars = (
            self.scalars.select(rows)
            if isinstance(self.scalars, (_Classes, _Given))
            else self.scalars
        )
        return Goal(labels, indices, scalars)


def goals(
    target: Target,
    output: Any,
    *,
    labels: Sequence[str] | None = None,
    kind: Output | Contrastive | str = Output.LOGIT,
) -> Goal:
    """Return what `target` means for a batch with this output.

    The target is an index, a label, a `Prompt`, a rank (`Predicted(2)`, "predicted", "second";
    None is the predicted class), a `Contrast`, a tensor of indices or a sequence of such targets,
    one an image, or a callable that takes the whole output and returns one number an image.
    Ranks are looked up once, in this output: the goal stays the same along a path.

    >>> z = torch.tensor([[1.0, 3.0], [5.0, 4.0]])
    >>> goals("predicted", z).scalars(z)
    tensor([3., 5.])
    >>> goals(["second", 0], z, kind="probability").labels
    ('class 0', 'class 0')
    """
    if callable(target):
        given = _Given(target, len(main_tensor(output)))
        given(output)
        name = getattr(target, "__name__", type(target).__name__)
        return Goal((name,) * given.images, None, given)
    if not isinstance(kind, Contrastive):
        kind = Output(kind)
    logits = class_logits(output)
    names = _names(output, labels, logits)
    choice = choose(target, logits, names)
    classes = _Classes(choice, kind)
    classes(output)
    return Goal(name_classes(choice, names), choice.classes[:, 0], classes)


@dataclass(frozen=True)
class _Classes:
    """y = Σ_k sign_k · y_{class_k}."""

    choice: Choice
    kind: Output | Contrastive

    def __call__(self, output: Any) -> Tensor:
        logits = class_logits(output)
        if len(logits.z) != len(self.choice.classes):
            raise TargetError(
                f"the goal is of {len(self.choice.classes)} images and the output of "
                f"{len(logits.z)}: take the goal's rows with select()"
            )
        return (self.choice.signs.to(logits.z) * score(logits, self.choice.classes, self.kind)).sum(
            1
        )

    def select(self, rows: Tensor) -> _Classes:
        return replace(self, choice=Choice(self.choice.classes[rows], self.choice.signs[rows]))


@dataclass(frozen=True)
class _Given:
    """y is the caller's own function of the output."""

    function: Callable[[Any], Tensor]
    images: int

    def __call__(self, output: Any) -> Tensor:
        y = called(self.function, output)
        if y.shape != (self.images,):
            raise TargetError(
                f"the target callable returned the shape {tuple(y.shape)}; it must return one "
                f"number an image, ({self.images},)"
            )
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

    def select(self, rows: Tensor) -> _Given:
        return replace(self, images=len(rows))


def called(function: Callable[[Any], Tensor], output: Any) -> Tensor:
    """Return what the caller's function makes of the output, if it is a tensor."""
    y = function(output)
    if not isinstance(y, Tensor):
        raise TargetError(f"the target callable returned {type(y).__name__}, not a tensor")
    return y


def _names(output: Any, labels: Sequence[str] | None, logits: ClassLogits) -> Sequence[str] | None:
    """The class names: those of the prompts, else the caller's, which must fit the output."""
    if isinstance(output, Similarity):
        return output.directions.prompts
    count = logits.z.shape[1]
    if logits.binary:
        if labels is None:
            return "negative", "positive"
        if len(labels) == 1:
            return f"not {labels[0]}", labels[0]
    if labels is not None and len(labels) != count:
        raise TargetError(f"{len(labels)} labels were given for {count} outputs")
    return labels
