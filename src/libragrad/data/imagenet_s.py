"""ImageNet-S: pictures of the ImageNet validation set with a class for each pixel.

Gao et al., Large-scale Unsupervised Semantic Segmentation, TPAMI 2022, arXiv:2106.03149.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from torch import Tensor

from libragrad.data.dataset import Dataset
from libragrad.data.imagenet import labels_by_wnid, picture_id, wnids
from libragrad.data.listing import existing, lines, pictures_below
from libragrad.data.record import BACKGROUND, IGNORED, ClassMap, PictureFile, Record, faulty
from libragrad.data.trimap import mask_pixels
from libragrad.errors import DataError

NAME = "imagenet-s"
SIZES = (50, 300, 919)
MASKS = "validation-segmentation"
OTHER, LEFT_OPEN = 0, 1000


def imagenet_s(root: Path | None, images: Path | None = None) -> Dataset:
    """ImageNet-S below `root`, which is `ImageNetS919` (or 300, or 50) or the folder around it.

        root/validation-segmentation/n01440764/ILSVRC2012_val_00000293.png
        root/validation/n01440764/ILSVRC2012_val_00000293.JPEG

    The pictures may also be in `images`, flat or in folders. A mask stores the number of a class
    in two colours, id = R + 256·G: 0 is any other thing, 1000 what the annotators left open, and
    k from 1 the k-th of the set's own classes, in alphabetical order of their WordNet ids. These
    are the lines of `ImageNetS_categories_im919.txt` if that is in `root`, else the names of the
    folders of masks. Class maps hold ImageNet-1k labels.

    The label of a record is that of its folder. The paper's target is `largest_class` of the class
    map after the model's own crop; it counts all pixels that are not of that class as background.
    """
    base = existing(NAME, root, [f"{at}{MASKS}" for at in ("", *(f"ImageNetS{n}/" for n in SIZES))])
    classes = _classes(base)
    pictures = {
        picture_id(path.name): path
        for path in pictures_below(images or base.with_name("validation"))
    }
    return Dataset(NAME, tuple(_records(base, classes, pictures)), wnids())


def largest_class(class_map: Tensor, least: float = 0.05) -> int | None:
    """The label with the most pixels, if it covers at least the share `least` of all pixels.

    None if no class does; then the paper leaves the picture out.

    >>> import torch
    >>> largest_class(torch.tensor([[7, 7, 3], [-1, -2, -1]]))
    7
    >>> largest_class(torch.tensor([[7, 7, 3], [-1, -2, -1]]), least=0.5) is None
    True
    """
    labels, counts = class_map[class_map >= 0].unique(return_counts=True)
    if not len(labels) or counts.max() < least * class_map.numel():
        return None
    return int(labels[counts.argmax()])


@dataclass(frozen=True)
class ColourCodedMask:
    """A mask file of ImageNet-S; `labels` are the ImageNet-1k labels of its classes from 1."""

    path: Path
    labels: tuple[int, ...]

    def read(self) -> ClassMap:
        """The ImageNet-1k label of each pixel [H, W]."""
        colours = mask_pixels(self.path)
        if colours.ndim != 3 or colours.shape[2] < 3:
            raise DataError(f"{self.path} is no mask of ImageNet-S: it must have three colours")
        number = colours[..., 0].astype(np.int32) + 256 * colours[..., 1].astype(np.int32)
        meaning = np.full(1 << 16, -3, np.int32)
        meaning[OTHER], meaning[LEFT_OPEN] = BACKGROUND, IGNORED
        meaning[1 : len(self.labels) + 1] = self.labels
        class_map: ClassMap = meaning[number]
        if (class_map == -3).any():
            unknown = number[class_map == -3][0]
            raise DataError(f"{self.path} says class {unknown}, of {len(self.labels)} classes")
        return class_map


def _classes(base: Path) -> tuple[int, ...]:
    lists = sorted(base.parent.glob("ImageNetS_categories_im*.txt"))
    if lists:
        names = sorted(line.strip() for _, line in lines(lists[0]))
    else:
        names = sorted(path.name for path in base.iterdir() if path.is_dir())
        if len(names) not in SIZES:
            raise DataError(
                f"{base} has {len(names)} folders, not 50, 300 or 919, so they do not say which "
                "class has which number: put ImageNetS_categories_im919.txt beside it"
            )
    unknown = [name for name in names if name not in labels_by_wnid()]
    if unknown:
        raise DataError(f"{lists[0] if lists else base} names {unknown[0]!r}, no ImageNet-1k class")
    return tuple(labels_by_wnid()[name] for name in names)


def _records(base: Path, classes: tuple[int, ...], pictures: dict[str, Path]) -> Iterator[Record]:
    for mask in sorted(base.glob("n????????/*.png")):
        name = picture_id(mask.name)
        if name not in pictures:
            yield faulty(name, f"{mask} has no picture: {name} is not among the pictures")
            continue
        label = labels_by_wnid().get(mask.parent.name)
        labels = () if label is None else (label,)
        yield Record(name, labels, PictureFile(pictures[name]), ColourCodedMask(mask, classes))
