"""Which number of a class is explained: its logit, its probability, or its lead over others."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import Enum

import torch
from torch import Tensor

from libragrad.errors import TargetError
from libragrad.targets.output import ClassLogits


class Output(Enum):
    """The explained number y_t of a class t with the logits z."""

    LOGIT = "logit"
    """y = z_t. A complete map adds up to it."""
    PROBABILITY = "probability"
    """y = p_t = softmax(z)_t, so ∂y/∂z = p_t (e_t − p); for a single logit y = σ(±z)."""
    SIGMOID = "sigmoid"
    """y = σ(z_t), for classes that do not exclude each other."""
    CONTRASTIVE = "contrastive"
    """y = z_t − max of the other logits: `Contrastive()`."""

    def __str__(self) -> str:
        """Return what one types."""
        return repr(self.value)

    @classmethod
    def _missing_(cls, value: object) -> Output:
        names = [kind.value for kind in cls]
        near = difflib.get_close_matches(str(value), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it can be {', '.join(names)}"
        raise TargetError(f"no output kind {value!r}; {hint}")


@dataclass(frozen=True)
class Contrastive:
    """y = z_t − s · mean of the n largest other logits.

    >>> logits = ClassLogits(torch.tensor([[5.0, 1.0, 3.0, 2.0]]))
    >>> score(logits, torch.tensor([[0]]), Contrastive(n=2, s=1.0))  # 5 − (3 + 2) / 2
    tensor([[2.5000]])
    """

    n: int = 1
    s: float = 1.0


def score(logits: ClassLogits, classes: Tensor, kind: Output | Contrastive) -> Tensor:
    """Return y (B, K) of the classes (B, K).

    >>> logits = ClassLogits(torch.tensor([[0.0, 0.0]]))
    >>> score(logits, torch.tensor([[1]]), Output.PROBABILITY)
    tensor([[0.5000]])
    """
    z = logits.z
    if kind is Output.CONTRASTIVE:
        kind = Contrastive()
    if isinstance(kind, Contrastive):
        return z.gather(1, classes) - kind.s * _others(z, classes, kind.n)
    if kind is Output.LOGIT:
        return z.gather(1, classes)
    if kind is Output.SIGMOID or logits.binary:
        return z.gather(1, classes).sigmoid()
    if z.shape[1] == 1:
        raise TargetError(
            "the softmax over a single prompt is always 1: give several prompts, or ask for "
            "output='logit' or 'sigmoid'"
        )
    return z.softmax(1).gather(1, classes)


def _others(z: Tensor, classes: Tensor, n: int) -> Tensor:
    if not 1 <= n < z.shape[1]:
        raise TargetError(
            f"contrastive: the mean of the {n} largest other logits was asked for, but there are "
            f"{z.shape[1] - 1} others"
        )
    rows = z[:, None].expand(-1, classes.shape[1], -1)
    return rows.scatter(2, classes[..., None], -torch.inf).topk(n).values.mean(2)
