"""Oxford-IIIT Pet: cats and dogs of 37 breeds, with trimaps.

Parkhi et al., Cats and Dogs, CVPR 2012.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from libragrad.data.dataset import Dataset
from libragrad.data.listing import existing, lines
from libragrad.data.record import PictureFile, Record, faulty
from libragrad.data.trimap import Trimap
from libragrad.data.tsv import DEFAULT_FILE, tsv

NAME = "oxford-pet"


def oxford_pet(root: Path | None, split: str = "test") -> Dataset:
    """Oxford-IIIT Pet below `root`; `split` is a list's name: test, trainval, or list for all.

        root/annotations/test.txt                       Abyssinian_201 1 1 1
        root/annotations/trimaps/Abyssinian_201.png     1 the pet, 2 the background, 3 the border
        root/images/Abyssinian_201.jpg

    The first number is the breed from 1 (the others are the species, 1 cat or 2 dog, and the breed
    within it); the label is the breed from 0.

    A part of it may also come as a table: `root/labels.tsv` with `root/images` and `root/trimaps`.
    Labels are those of the table then, for instance ImageNet's.
    """
    if root is not None and (root / DEFAULT_FILE).is_file():
        return replace(tsv(root, upright=False), name=NAME)
    listing = existing(NAME, root, [f"annotations/{split}.txt"])
    numbered = [(number, line) for number, line in lines(listing) if not line.startswith("#")]
    breeds: dict[int, str] = {}
    records = tuple(_records(listing, numbered, breeds))
    classes = tuple(breeds.get(k, "") for k in range(max(breeds, default=-1) + 1))
    return Dataset(NAME, records, classes or None)


def _records(
    listing: Path, numbered: list[tuple[int, str]], breeds: dict[int, str]
) -> Iterator[Record]:
    """The records; fills `breeds`, whose names are those of their pictures without the number."""
    annotations, images = listing.parent, listing.parents[1] / "images"
    for number, line in numbered:
        name, *numbers = line.split()
        if len(numbers) != 3 or not all(n.isdecimal() and int(n) > 0 for n in numbers):
            yield faulty(name, f"{listing}, line {number}: {line!r} is no name with three numbers")
            continue
        label = int(numbers[0]) - 1
        breeds.setdefault(label, name.rpartition("_")[0])
        yield Record(
            name,
            (label,),
            PictureFile(images / f"{name}.jpg"),
            Trimap(annotations / "trimaps" / f"{name}.png", label),
        )
