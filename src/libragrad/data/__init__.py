"""Data sets as people have them on disk, and pictures that are safe to open.

>>> data = load_dataset("builtin:mosaic").sample(100, seed=0)
>>> record = data[0]
>>> picture, class_map = record.segmented()
>>> bool((class_map == record.labels[0]).any())
True
"""

from libragrad.data.dataset import Dataset
from libragrad.data.imagenet_s import largest_class
from libragrad.data.picture_file import open_picture
from libragrad.data.record import BACKGROUND, IGNORED, Record
from libragrad.data.table import DATASETS, DatasetRow, find_dataset, load_dataset

__all__ = [
    "BACKGROUND",
    "DATASETS",
    "IGNORED",
    "Dataset",
    "DatasetRow",
    "Record",
    "find_dataset",
    "largest_class",
    "load_dataset",
    "open_picture",
]
