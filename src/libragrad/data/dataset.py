"""A data set: its records in one fixed order, and samples of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import overload

from libragrad.data.record import Record
from libragrad.errors import DataError


@dataclass(frozen=True)
class Dataset:
    """Records ordered by id, whatever order the files were found in.

    `classes` names the labels: label k is `classes[k]`. None where the data set says nothing of
    them.

    >>> from libragrad.data.record import faulty
    >>> data = Dataset("letters", tuple(faulty(id, "no file") for id in "cab"))
    >>> [record.id for record in data]
    ['a', 'b', 'c']
    >>> [record.id for record in data.sample(2, seed=1)]
    ['b', 'c']
    """

    name: str
    records: tuple[Record, ...] = field(repr=False)
    classes: tuple[str, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.records, key=lambda record: record.id))
        counts = Counter(record.id for record in ordered)
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            raise DataError(f"{self.name} lists {twice[0]!r} more than once: leave one of them out")
        object.__setattr__(self, "records", ordered)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Dataset: ...
    def __getitem__(self, index: int | slice) -> Record | Dataset:
        if isinstance(index, slice):
            return Dataset(self.name, self.records[index], self.classes)
        return self.records[index]

    def sample(self, n: int, seed: int = 0) -> Dataset:
        """`n` records drawn without replacement.

        The records with the smallest SHA-256 of "seed, newline, id" are drawn. So the draw
        depends on the ids and the seed alone: not on the machine, the file system, a library's
        generator, or the other records. Smaller samples of a seed lie within larger ones, and a
        record that is added or lost changes at most one place.
        """
        if not 0 <= n <= len(self):
            raise DataError(f"{self.name} has {len(self)} records, so {n} cannot be drawn")
        return Dataset(self.name, self.shuffled(seed)[:n], self.classes)

    def shuffled(self, seed: int = 0) -> tuple[Record, ...]:
        """All records in the order in which `sample` draws them."""
        return tuple(
            sorted(self.records, key=lambda r: sha256(f"{seed}\n{r.id}".encode()).digest())
        )
