"""MURA: X-ray pictures of upper limbs, normal or abnormal.

Rajpurkar et al., MURA: Large Dataset for Abnormality Detection in Musculoskeletal Radiographs,
MIDL 2018, arXiv:1712.06957.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from libragrad.data.dataset import Dataset
from libragrad.data.listing import existing, lines
from libragrad.data.record import PictureFile, Record, faulty

NAME = "mura"
CLASSES = ("normal", "abnormal")
_PREFIX = "MURA-v1.1/"


def mura(root: Path | None, split: str = "valid") -> Dataset:
    """MURA below `root`, which is `MURA-v1.1` or the folder around it; `split`: valid or train.

        root/valid_image_paths.csv
            MURA-v1.1/valid/XR_WRIST/patient11185/study1_positive/image1.png
        root/valid_labeled_studies.csv
            MURA-v1.1/valid/XR_WRIST/patient11185/study1_positive/,1

    A picture's label is its study's: 0 normal, 1 abnormal.
    """
    listing = f"{split}_image_paths.csv"
    paths = existing(NAME, root, [listing, f"{_PREFIX}{listing}"])
    studies = existing(NAME, paths.parent, [f"{split}_labeled_studies.csv"])
    label_of = {}
    for _, line in lines(studies):
        study, _, label = line.strip().rpartition(",")
        label_of[study.rstrip("/")] = label
    return Dataset(NAME, tuple(_records(paths, label_of)), CLASSES)


def _records(paths: Path, label_of: dict[str, str]) -> Iterator[Record]:
    for number, line in lines(paths):
        listed = line.strip().rstrip(",")
        study, _, _ = listed.rpartition("/")
        name = listed.removeprefix(_PREFIX)
        label = label_of.get(study)
        if label in {"0", "1"}:
            yield Record(name, (int(label),), PictureFile(paths.parent / name))
        else:
            reason = f"its study has the label {label!r}, not 0 or 1" if label else "no label"
            yield faulty(name, f"{paths}, line {number}: {name} has no usable label ({reason})")
