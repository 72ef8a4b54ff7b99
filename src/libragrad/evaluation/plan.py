"""The plan of a run: which cells are measured together on which images."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from libragrad.evaluation.address import address
from libragrad.evaluation.bench import Bench
from libragrad.evaluation.cell import Cell

__all__ = ["SHARD_IMAGES", "Shard", "make_plan", "remaining"]

SHARD_IMAGES = 20
"""How many images a shard holds: what a killed run loses of the work in flight."""

_FORMAT = 1


@dataclass(frozen=True)
class Shard:
    """A stretch of a seeded sample × the cells that are measured on it together.

    They share the model, the unmasked predictions and, where method alone differs, the backward
    pass. An *item* is one of the cells on these images. Its address is the hash of all that made
    it, so a finished item is found again also when its neighbours are others.

    Attributes:
        cells: the cells.
        records: the ids of the images.
        manifest: versions and checksums, by name.
    """

    cells: tuple[Cell, ...]
    records: tuple[str, ...]
    manifest: tuple[tuple[str, str], ...]

    @property
    def model(self) -> str:
        """The model that all cells share."""
        return self.cells[0].model

    @property
    def dataset(self) -> str:
        """The data set that all cells share."""
        return self.cells[0].dataset

    @property
    def rows(self) -> int:
        """How many rows the finished shard has."""
        return len(self.cells) * len(self.records)

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The address of each cell on these images."""
        made_from = {"format": _FORMAT, "records": self.records, "manifest": dict(self.manifest)}
        return tuple(address({"cell": cell.identity(), **made_from}) for cell in self.cells)

    @cached_property
    def address(self) -> str:
        """The address of the whole: the hash of its items."""
        return address(self.items)

    @property
    def effort(self) -> int:
        """A rough cost in forward passes, for the estimate of time."""
        return len(self.records) * (_attributing(self.cells) + sum(map(_measuring, self.cells)))


def make_plan(
    cells: Iterable[Cell], bench: Bench, shard_images: int = SHARD_IMAGES
) -> tuple[Shard, ...]:
    """The shards of all cells: those of one model and sample together, models one after another."""
    groups: dict[tuple[str, str, int, int], list[Cell]] = defaultdict(list)
    for cell in dict.fromkeys(cells):
        groups[cell.model, cell.dataset, cell.seed, cell.samples].append(cell)
    shards = []
    for (model, dataset, seed, samples), group in groups.items():
        records = bench.records(dataset, samples, seed)
        manifest = tuple(sorted(_checked(bench.manifest(model, dataset)).items()))
        for first in range(0, len(records), shard_images):
            part = tuple(records[first : first + shard_images])
            shards.append(Shard(tuple(sorted(group)), part, manifest))
    return tuple(shards)


def remaining(plan: Sequence[Shard], finished: Collection[str]) -> tuple[Shard, ...]:
    """What is left of the plan: each shard with its unfinished items only."""
    left = []
    for shard in plan:
        cells = tuple(
            cell
            for cell, item in zip(shard.cells, shard.items, strict=True)
            if item not in finished
        )
        if cells:
            left.append(replace(shard, cells=cells))
    return tuple(left)


def _checked(manifest: Mapping[str, str]) -> Mapping[str, str]:
    for name in ("libragrad", "torch"):
        if name not in manifest:
            raise ValueError(f"the bench's manifest does not say the version of {name}")
    return manifest


def _attributing(cells: Iterable[Cell]) -> int:
    """Cells that differ in method or metric alone share a pass; 3 forwards each, 50 on a path."""
    passes = {(cell.preset, cell.path, cell.profile, cell.output, cell.target) for cell in cells}
    return sum(3 if path == "point" else 150 for _, path, *_ in passes)


def _measuring(cell: Cell) -> int:
    """Two curves of nine steps that keep half of the tokens on average."""
    return 9 if cell.metric == "deletion" else 1
