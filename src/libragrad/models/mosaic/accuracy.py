"""How good the mosaic model is on the held-out mosaics."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from libragrad.metrics.average_precision import average_precision
from libragrad.models.mosaic.data import MosaicData, preprocess
from libragrad.models.mosaic.vit import LABELS


@dataclass(frozen=True)
class Accuracy:
    """Shares from 0 to 1, one a class [10]; higher is better.

    `right`: presences that the logit's sign gets right; `found`: of the mosaics with the class,
    those with a positive logit; `precision`: average precision of the mosaics ordered by logit.
    `all_four`: mosaics whose four largest logits are its four classes (one number).
    """

    right: Tensor
    found: Tensor
    precision: Tensor
    all_four: Tensor

    def __str__(self) -> str:
        lines = ["| class | presences right | found | average precision |", "|---|---|---|---|"]
        columns = (self.right, self.found, self.precision)
        for label, *shares in zip(LABELS, *(column.tolist() for column in columns), strict=True):
            lines.append(_row(label, shares))
        lines.append(_row("**all**", [column.mean().item() for column in columns]))
        lines.append("")
        lines.append(f"All four classes on top: {self.all_four.item():.1%} of the mosaics.")
        return "\n".join(lines)


def accuracy(logits: Tensor, labels: Tensor) -> Accuracy:
    """The accuracy of logits [M, C] where boolean `labels` [M, C] say which classes are there.

    >>> labels = torch.tensor([[True, False], [False, True]])
    >>> accuracy(torch.tensor([[2.0, -1.0], [1.0, 3.0]]), labels).right.tolist()
    [0.5, 1.0]
    """
    said = logits > 0
    largest = logits.argsort(dim=1, descending=True).argsort(dim=1) < labels.sum(1, keepdim=True)
    return Accuracy(
        right=(said == labels).double().mean(0),
        found=(said & labels).sum(0) / labels.sum(0).double(),
        precision=average_precision(logits.T, labels.T),
        all_four=(largest == labels).all(1).double().mean(),
    )


@torch.inference_mode()
def measure(model: nn.Module, data: MosaicData, batch: int = 50) -> Accuracy:
    """The accuracy of `model` on `data`."""
    logits = torch.cat([model(pictures) for pictures in preprocess(data.images).split(batch)])
    return accuracy(logits, torch.from_numpy(data.labels))


def _row(label: str, shares: list[float]) -> str:
    return f"| {label} | {' | '.join(f'{share:.1%}' for share in shares)} |"
