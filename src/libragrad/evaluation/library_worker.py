"""The library as a worker: one model, its explainer and its maskers, found once for all batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from libragrad.data import Dataset, Record
from libragrad.errors import DataError, ModelError
from libragrad.evaluation.cell import Cell
from libragrad.evaluation.names import PATHS, preset_of
from libragrad.evaluation.photographs import Photographs
from libragrad.evaluation.row import Row
from libragrad.explaining.explainer import Explainer
from libragrad.explaining.explanation import Explanation
from libragrad.masking import Masker, masker
from libragrad.models.loaded import LoadedModel
from libragrad.targets.output import class_logits

__all__ = ["LibraryWorker", "Picture"]


@dataclass(frozen=True)
class Picture:
    """A picture as the model takes it, and the record that it came from."""

    record: Record
    x: Tensor
    classes: int | None
    """How many classes its data set has, where that is known."""


class LibraryWorker:
    """Holds one model. It says what the model predicts, explains, and deletes."""

    def __init__(
        self, loaded: LoadedModel, open_data: Callable[[str], Dataset], device: str, batch_size: int
    ) -> None:
        """Put the model on the device."""
        if loaded.preprocess is None:
            raise ModelError(f"{loaded.manifest.name} takes no pictures, so it cannot be evaluated")
        self._preprocess = loaded.preprocess
        self._model = loaded.model.to(device)
        self._explainer = Explainer(self._model, labels=loaded.labels)
        self._open, self._device, self.batch_size = open_data, device, batch_size
        self._data: dict[str, tuple[Dataset, dict[str, Record]]] = {}
        self._maskers: dict[str, Masker] = {}

    def load(self, dataset: str, record: str) -> Picture:
        """The picture of that record, ready for the model."""
        if dataset not in self._data:
            data = self._open(dataset)
            self._data[dataset] = data, {found.id: found for found in data}
        data, records = self._data[dataset]
        classes = None if data.classes is None else len(data.classes)
        return Picture(records[record], self._preprocess(records[record].picture()), classes)

    def measure(self, cells: Sequence[Cell], pictures: Sequence[Picture]) -> Iterator[Row]:
        """One row for each cell and picture."""
        x = torch.stack([picture.x for picture in pictures]).to(self._device)
        with torch.no_grad():
            logits = class_logits(self._model(x)).z
        for picture in pictures:
            if picture.classes not in (None, logits.shape[1]):
                raise DataError(
                    f"the data set of {picture.record.id} has {picture.classes} classes and the "
                    f"model {logits.shape[1]}: its labels are not the model's outputs"
                )
        records = [picture.record for picture in pictures]
        yield from Photographs(self, records, x, logits).rows(cells)

    def explain(
        self, cells: Sequence[Cell], x: Tensor, targets: Tensor
    ) -> Iterator[tuple[Cell, Explanation]]:
        """The maps of cells for these classes; all methods of a preset share one backward pass."""
        groups: dict[tuple[str, str, str, str], list[Cell]] = defaultdict(list)
        for cell in cells:
            groups[cell.preset, cell.path, cell.profile, cell.output].append(cell)
        for (preset, path, profile, output), group in groups.items():
            found = self._explainer.explain(
                x,
                targets,
                methods=[cell.method for cell in group],
                preset=preset_of(preset),
                path=PATHS[path],
                profile=profile,
                output=output,
                seed=group[0].seed,
                batch_size=self.batch_size,
            )
            yield from zip(group, found, strict=True)

    def masker(self, mask: str, x: Tensor) -> Masker:
        """The masker of that name; a trial shows what the model allows."""
        if mask not in self._maskers:
            self._maskers[mask] = masker(self._model, x, mask, geometry=self._explainer.geometry(x))
        return self._maskers[mask]

    def class_map(self, record: Record) -> Tensor:
        """The label of each pixel that the model sees."""
        return self._preprocess.mask(record.class_map()).to(self._device)
