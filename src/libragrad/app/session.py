"""What one visitor has: a picture, what was asked of it, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from libragrad.app.comparison import Comparison, Question
from libragrad.app.studio import Seen, Witness
from libragrad.errors import InputError
from libragrad.masking import Unmasked
from libragrad.targets.names import short_name
from libragrad.targets.output import ClassLogits

__all__ = ["Session"]


@dataclass(frozen=True)
class Session:
    """One visitor's picture and answers; every event makes a new one."""

    seen: Seen
    witness: Witness
    whole: Unmasked
    """The model's answer to the whole picture."""
    question: Question | None = None
    comparisons: tuple[Comparison, ...] = ()
    deleted: tuple[int, ...] = ()
    """The patches that were clicked away, numbered along the grid."""
    rest: Tensor | None = None
    """The logits without them, (1, classes)."""

    @classmethod
    def begin(cls, seen: Seen, witness: Witness) -> Session:
        """Ask the model what it sees."""
        with torch.no_grad():
            return cls(seen, witness, witness.masker.unmasked(seen.x))

    @property
    def before(self) -> ClassLogits:
        """What the model says of the whole picture, a column for each class or prompt."""
        return ClassLogits(self.whole.logits)

    @property
    def now(self) -> ClassLogits:
        """The same without the deleted patches."""
        return self.before if self.rest is None else ClassLogits(self.rest)

    @property
    def labels(self) -> Sequence[str] | None:
        """The names of the columns, if there are any; one label of one logit stands for two."""
        labels = self.witness.prompts or self.witness.explainer.labels
        if labels and len(labels) < self.before.z.shape[1]:
            return [f"not {labels[0]}", labels[0]]
        return labels

    def name(self, k: int) -> str:
        """A class, or a prompt, as people read it."""
        if self.labels is None:
            return f"class {k}"
        return self.labels[k] if self.witness.prompts else short_name(self.labels[k])

    def without(self, patches: list[int]) -> Session:
        """Delete these patches and no others, and ask again."""
        masker = self.witness.masker
        wrong = [p for p in patches if type(p) is not int or not 0 <= p < masker.patches]
        if wrong:
            raise InputError(f"patches are numbers from 0 to {masker.patches - 1}; got {wrong[:3]}")
        deleted = tuple(sorted(set(patches)))
        if not deleted:
            return replace(self, deleted=(), rest=None)
        kept = [p for p in range(masker.patches) if p not in set(deleted)]
        with torch.no_grad():
            keep = torch.tensor([kept], dtype=torch.int64, device=self.seen.x.device)
            rest = masker.predict(self.whole, keep)
        return replace(self, deleted=deleted, rest=rest)
