"""COCO: photographs of common things in their places, each thing with its outline.

Lin et al., Microsoft COCO: Common Objects in Context, ECCV 2014, arXiv:1405.0312.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from libragrad.data.dataset import Dataset
from libragrad.data.listing import existing
from libragrad.data.record import BACKGROUND, IGNORED, ClassMap, PictureFile, Record
from libragrad.errors import DataError

NAME = "coco"
ZEBRA_AND_ELEPHANT = ("zebra", "elephant")


@dataclass(frozen=True, eq=False)
class Thing:
    """One annotated thing: its label, and its outline as COCO writes it; a `crowd` is many."""

    label: int
    outline: Any
    crowd: bool


@dataclass(frozen=True, eq=False)
class Outlines:
    """The things of one picture, and the picture's name and size."""

    name: str
    things: tuple[Thing, ...]
    height: int
    width: int

    def read(self) -> ClassMap:
        """The label of each pixel [H, W].

        Where outlines overlap, the smaller thing counts: it is most often the one in front.
        Crowds, of which COCO has only a rough outline, are ignored.
        """
        masks = [(thing, self.mask(thing)) for thing in self.things]
        class_map = np.full((self.height, self.width), BACKGROUND, np.int32)
        for thing, mask in sorted(masks, key=lambda pair: (not pair[0].crowd, -pair[1].sum())):
            class_map[mask] = IGNORED if thing.crowd else thing.label
        return class_map

    def mask(self, thing: Thing) -> NDArray[np.bool_]:
        """The pixels [H, W] within a thing's outline."""
        codec = _codec()
        outline = thing.outline
        try:
            if isinstance(outline, list):
                parts = codec.frPyObjects(outline, self.height, self.width)
                packed = codec.merge(parts)
            elif isinstance(outline["counts"], list):
                packed = codec.frPyObjects(outline, self.height, self.width)
            else:
                packed = outline
            return np.asarray(codec.decode(packed), bool)
        except Exception as error:  # whatever a broken outline makes of it
            raise DataError(f"an outline in {self.name} is broken ({error})") from error


def coco(
    root: Path | None,
    split: str = "val2017",
    contains: tuple[str, ...] = (),
    least: float = 0.0,
) -> Dataset:
    """COCO below `root`; with `contains`, the pictures that hold things of all these classes.

        root/annotations/instances_val2017.json     root/val2017/000000000139.jpg

    Labels are the positions of the categories by their numbers, 0 to 79, the class with the first
    annotation first. Each class of `contains` must cover more than the share `least` of the
    picture.
    """
    path = existing(NAME, root, [f"annotations/instances_{split}.json"])
    try:
        annotations = json.loads(path.read_bytes())
        categories = sorted(annotations["categories"], key=lambda category: category["id"])
        records = tuple(_records(path, split, annotations, categories))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is no sound COCO annotation ({error!r}): get it again") from error
    classes = tuple(category["name"] for category in categories)
    absent = [name for name in contains if name not in classes]
    if absent:
        raise DataError(f"COCO has no class {absent[0]!r}: it has {', '.join(classes)}")
    wanted = [classes.index(name) for name in contains]
    return Dataset(NAME, tuple(r for r in records if _holds(r, wanted, least)), classes)


def zebra_and_elephant(root: Path | None, split: str = "train2017") -> Dataset:
    """The paper's selection: a zebra and an elephant, each on more than 5 % of the picture."""
    return replace(coco(root, split, ZEBRA_AND_ELEPHANT, least=0.05), name=f"{NAME}-zebra-elephant")


def _records(
    path: Path, split: str, annotations: dict[str, Any], categories: list[Any]
) -> Iterator[Record]:
    label_of = {category["id"]: label for label, category in enumerate(categories)}
    things: dict[int, list[Thing]] = defaultdict(list)
    for a in annotations["annotations"]:
        thing = Thing(label_of[a["category_id"]], a["segmentation"], bool(a.get("iscrowd")))
        things[a["image_id"]].append(thing)
    for image in annotations["images"]:
        here = tuple(things[image["id"]])
        labels = tuple(dict.fromkeys(thing.label for thing in here))
        source = PictureFile(path.parents[1] / split / image["file_name"])
        regions = Outlines(image["file_name"], here, image["height"], image["width"])
        yield Record(Path(image["file_name"]).stem, labels, source, regions)


def _holds(record: Record, wanted: list[int], least: float) -> bool:
    if not set(wanted) <= set(record.labels):
        return False
    if least <= 0:
        return True
    assert isinstance(record.regions, Outlines)
    outlines = record.regions
    pixels = outlines.height * outlines.width
    for label in wanted:
        union = np.zeros((outlines.height, outlines.width), bool)
        for thing in outlines.things:
            if thing.label == label:
                union |= outlines.mask(thing)
        if union.sum() <= least * pixels:
            return False
    return True


def _codec() -> Any:
    try:
        from pycocotools import mask
    except ImportError as error:
        raise DataError(
            "COCO's outlines are read with pycocotools: pip install 'libragrad[evaluation]'"
        ) from error
    return mask
