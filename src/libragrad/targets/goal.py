"""What is explained: one scalar an image, computed from the model's output outside the mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from libragrad.errors import TargetError
from libragrad.targets.choice import choose, name_classes
from libragrad.targets.kinds import Contrastive, Output
from libragrad.targets.output import ClassLogits, as_leaves, class_logits, main_tensor
from libragrad.targets.scalars import ByFunction, ByFunctions, OfClasses, Scalars
from libragrad.targets.similarity import Similarity
from libragrad.targets.specs import Target

Labels: TypeAlias = Sequence[str] | Callable[[int], Sequence[str] | None] | None


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
    scalars: Scalars
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
        return Goal(labels, indices, self.scalars.select(rows))


def goals(
    target: Target,
    output: Any,
    *,
    labels: Labels = None,
    kind: Output | Contrastive | str = Output.LOGIT,
) -> Goal:
    """Return what `target` means for a batch with this output.

    The target is an index, a label, a `Prompt`, a rank (`Predicted(2)`, "predicted", "second";
    None is the predicted class), a `Contrast`, a tensor of indices or a sequence of such targets,
    one an image, or a callable that takes the whole output and returns one number an image, or a
    sequence of callables, each of which takes the row of one image and returns one number.
    Ranks are looked up once, in this output: the goal stays the same along a path.

    `labels` name the outputs; a function gets the number of outputs and returns the names, if any.

    >>> z = torch.tensor([[1.0, 3.0], [5.0, 4.0]])
    >>> goals("predicted", z).scalars(z)
    tensor([3., 5.])
    >>> goals(["second", 0], z, kind="probability").labels
    ('class 0', 'class 0')
    """
    if not isinstance(kind, Contrastive):
        kind = Output(kind)
    functions = _functions(target, output)
    if functions is not None:
        if kind is not Output.LOGIT:
            raise TargetError(
                f"a callable says itself which number is explained, so output={kind} has no meaning"
            )
        functions(output)
        return Goal(_function_names(target, len(main_tensor(output))), None, functions)
    logits = class_logits(output)
    names = _names(output, labels, logits)
    choice = choose(target, logits, names)
    classes = OfClasses(choice, kind)
    classes(output)
    return Goal(name_classes(choice, names), choice.classes[:, 0], classes)


def _functions(target: Target, output: Any) -> Scalars | None:
    """Return the callable, or the sequence of them, as a function of the output."""
    if callable(target):
        return ByFunction(target, len(main_tensor(output)))
    if not isinstance(target, Sequence) or not target or not all(map(callable, target)):
        return None
    images = len(main_tensor(output))
    if len(target) != images:
        raise TargetError(f"{len(target)} callables were given for {images} images")
    return ByFunctions(tuple(one for one in target if callable(one)))


def _function_names(target: Any, images: int) -> tuple[str, ...]:
    each = target if isinstance(target, Sequence) else [target] * images
    return tuple(getattr(one, "__name__", type(one).__name__) for one in each)


def _names(output: Any, labels: Labels, logits: ClassLogits) -> Sequence[str] | None:
    """The class names: those of the prompts, else the caller's, which must fit the output."""
    if isinstance(output, Similarity):
        return output.directions.prompts
    count = logits.z.shape[1]
    if callable(labels):
        labels = labels(1 if logits.binary else count)
    if logits.binary:
        if labels is None:
            return "negative", "positive"
        if len(labels) == 1:
            return f"not {labels[0]}", labels[0]
    if labels is not None and len(labels) != count:
        raise TargetError(f"{len(labels)} labels were given for {count} outputs")
    return labels
