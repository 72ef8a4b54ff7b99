"""A batch of pictures before a model: what each of the measurements makes of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from libragrad.data import IGNORED, Record, largest_class
from libragrad.errors import DataError
from libragrad.evaluation.cell import Cell
from libragrad.evaluation.row import Deletion, Row
from libragrad.explaining.explanation import Explanation
from libragrad.masking import Curve, Masker, delete
from libragrad.metrics import average_precision, mass_accuracy, pointing_game, predicted_label

__all__ = ["Beholder", "Photographs"]


class Beholder(Protocol):
    """A model that can be asked what it makes of pictures."""

    batch_size: int

    def explain(
        self, cells: Sequence[Cell], x: Tensor, targets: Tensor
    ) -> Iterator[tuple[Cell, Explanation]]:
        """The maps of cells for these classes."""

    def masker(self, mask: str, x: Tensor) -> Masker:
        """The masker of that name."""

    def class_map(self, record: Record) -> Tensor:
        """The label of each pixel that the model sees."""


@dataclass(frozen=True)
class Photographs:
    """Records, the model's input of them (images, …), and its logits (images, classes)."""

    beholder: Beholder
    records: Sequence[Record]
    x: Tensor
    logits: Tensor

    def rows(self, cells: Sequence[Cell]) -> Iterator[Row]:
        """One row for each cell and picture."""
        measurements: dict[str, Callable[[Sequence[Cell]], Iterator[Row]]] = {
            "deletion": self._deletion,
            "completeness": self._completeness,
            "segmentation": self._segmentation,
        }
        groups: dict[str, list[Cell]] = defaultdict(list)
        for cell in cells:
            groups[cell.metric].append(cell)
        for metric, group in groups.items():
            yield from measurements[metric](group)

    def _deletion(self, cells: Sequence[Cell]) -> Iterator[Row]:
        """Curves from both ends; equally long sequences of all methods share a batch."""
        for mask, group in _by(cells, lambda cell: cell.mask).items():
            masker = self.beholder.masker(mask, self.x)
            keys = {str(number): cell for number, cell in enumerate(group)}
            maps = {cell: found.map.flatten(1) for cell, found in self._explained(group)}
            with torch.no_grad():
                curves = delete(
                    masker,
                    self.x,
                    {key: maps[cell] for key, cell in keys.items()},
                    batch_size=self.beholder.batch_size,
                )
            for key, cell in keys.items():
                most, least = (self._curves(curves[key, first]) for first in ("most", "least"))
                for place in range(len(self.records)):
                    yield replace(
                        self._row(cell, place),
                        masking=masker.used.name,
                        removed=curves[key, "most"].removed,
                        most=most[place],
                        least=least[place],
                    )

    def _completeness(self, cells: Sequence[Cell]) -> Iterator[Row]:
        for cell, found in self._explained(cells):
            total = found.map.double().flatten(1).sum(1)
            # What the map should add up to: for a path, the difference between its ends.
            owed = total + found.unattributed + found.completeness_error
            y = torch.where(owed.isnan(), found.output, owed)
            for place in range(len(self.records)):
                yield replace(
                    self._row(cell, place),
                    y=float(y[place]),
                    total=float(total[place]),
                    unattributed=float(found.unattributed[place]),
                )

    def _segmentation(self, cells: Sequence[Cell]) -> Iterator[Row]:
        """The upsampled map against the mask; pictures without a large enough object have none."""
        maps = {record.id: self.beholder.class_map(record) for record in self.records}
        shown = [largest_class(maps[record.id]) for record in self.records]
        there = [place for place, label in enumerate(shown) if label is not None]
        for place in set(range(len(self.records))).difference(there):
            yield from (self._row(cell, place) for cell in cells)
        if not there:
            return
        part = Photographs(
            self.beholder, [self.records[p] for p in there], self.x[there], self.logits[there]
        )
        labels = torch.tensor([label for label in shown if label is not None]).to(self.x.device)
        class_maps = torch.stack([maps[record.id] for record in part.records])
        mask, valid = class_maps == labels[:, None, None], class_maps != IGNORED
        for cell, found in part._explained(cells, labels):
            score = interpolate(
                found.map[:, None], size=mask.shape[1:], mode="bicubic", align_corners=False
            )[:, 0]
            precision = average_precision(score, mask, valid)
            pointing = pointing_game(score, mask, valid)
            mass = mass_accuracy(score, mask, valid)
            for place in range(len(there)):
                yield replace(
                    part._row(cell, place),
                    average_precision=float(precision[place]),
                    pointing_game=float(pointing[place]),
                    mass_accuracy=float(mass[place]),
                )

    def _explained(
        self, cells: Sequence[Cell], shown: Tensor | None = None
    ) -> Iterator[tuple[Cell, Explanation]]:
        """The maps of all cells; `shown` are the classes of masks, which then are the labels."""
        for target, group in _by(cells, lambda cell: cell.target).items():
            if target == "predicted":
                classes = predicted_label(self.logits)
            else:
                classes = self._labels() if shown is None else shown
            yield from self.beholder.explain(group, self.x, classes)

    def _labels(self) -> Tensor:
        for record in self.records:
            if not record.labels:
                raise DataError(f"{record.id} has no label, which was to be explained")
        return torch.tensor([record.labels[0] for record in self.records]).to(self.x.device)

    def _curves(self, curve: Curve) -> list[Deletion]:
        """What rows keep of a curve, image by image."""
        labelled = [record.labels[:1] for record in self.records]
        known = torch.tensor([label[0] if label else 0 for label in labelled])
        of_label = curve.probability(known.to(self.x.device)).tolist()
        of_predicted = curve.probability(predicted_label(self.logits)).tolist()
        return [
            Deletion(
                tuple(prediction),
                tuple(of_label[place]) if labelled[place] else None,
                tuple(of_predicted[place]),
            )
            for place, prediction in enumerate(curve.predicted.tolist())
        ]

    def _row(self, cell: Cell, place: int) -> Row:
        """What is known of a picture before anything is measured."""
        record = self.records[place]
        label = record.labels[0] if record.labels else None
        return Row(cell, record.id, label=label, predicted=int(self.logits[place].argmax()))


def _by(cells: Sequence[Cell], key: Callable[[Cell], str]) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[key(cell)].append(cell)
    return groups
