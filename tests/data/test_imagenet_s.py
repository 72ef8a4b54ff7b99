"""ImageNet-S: numbers in two colours, classes by WordNet id, the largest one after the crop."""

import numpy as np
import pytest
import torch

from libragrad.data.imagenet import wnids
from libragrad.data.imagenet_s import imagenet_s, largest_class
from libragrad.data.record import BACKGROUND, IGNORED
from libragrad.errors import DataError
from tests.data.pictures import put

NAME = "ILSVRC2012_val_00000293"
CLASSES = [wnids()[k] for k in range(0, 1000, 20)]  # fifty of them, in order


def colours(numbers):
    """R + 256·G, as the annotators stored it."""
    numbers = np.asarray(numbers)
    return np.stack([numbers % 256, numbers // 256, 0 * numbers], -1).astype(np.uint8)


NUMBERS = np.full((6, 8), 0)
NUMBERS[0], NUMBERS[1], NUMBERS[2:4] = 1000, 50, 3


@pytest.fixture
def root(tmp_path):
    base = tmp_path / "ImageNetS50"
    for wnid in CLASSES:
        (base / "validation-segmentation" / wnid).mkdir(parents=True)
    put(base / "validation" / CLASSES[2] / f"{NAME}.JPEG")
    put(base / "validation-segmentation" / CLASSES[2] / f"{NAME}.png", colours(NUMBERS))
    return tmp_path


def test_a_mask_holds_imagenet_labels(root):
    (record,) = imagenet_s(root)
    assert (record.id, record.labels) == (NAME, (40,))
    picture, regions = record.segmented()
    assert picture.size == (8, 6)
    meaning = {0: BACKGROUND, 1000: IGNORED, 50: 49 * 20, 3: 2 * 20}
    assert np.array_equal(regions, np.vectorize(meaning.get)(NUMBERS))
    assert imagenet_s(root / "ImageNetS50")[0].id == NAME


def test_numbers_beyond_a_byte_are_read(tmp_path):
    """With 919 classes the green channel counts; their names come from the list."""
    base = tmp_path / "ImageNetS919"
    kept = [wnid for k, wnid in enumerate(wnids()) if k >= 81]
    put(base / "validation" / kept[0] / f"{NAME}.JPEG")
    mask = colours(np.full((6, 8), 919))
    put(base / "validation-segmentation" / kept[0] / f"{NAME}.png", mask)
    with pytest.raises(DataError, match=r"has 1 folders, not 50, 300 or 919.*categories_im919"):
        imagenet_s(tmp_path)
    (base / "ImageNetS_categories_im919.txt").write_text("\n".join(reversed(kept)))
    assert (imagenet_s(tmp_path)[0].class_map() == 999).all()


def test_pictures_may_be_elsewhere(root, tmp_path):
    flat = put(tmp_path / "val" / f"{NAME}.JPEG").parent
    (root / "ImageNetS50" / "validation" / CLASSES[2] / f"{NAME}.JPEG").unlink()
    assert imagenet_s(root, flat)[0].segmented()[0].size == (8, 6)
    with pytest.raises(DataError, match=rf"{NAME} is not among the pictures"):
        imagenet_s(root)[0].picture()


def test_a_number_without_a_class_is_named(root):
    mask = root / "ImageNetS50" / "validation-segmentation" / CLASSES[2] / f"{NAME}.png"
    put(mask, colours(np.full((6, 8), 51)))
    with pytest.raises(DataError, match=rf"{NAME}\.png says class 51, of 50 classes"):
        imagenet_s(root)[0].class_map()
    put(mask, np.zeros((6, 8), np.uint8))
    with pytest.raises(DataError, match="it must have three colours"):
        imagenet_s(root)[0].class_map()


def test_the_largest_class_counts_from_five_percent():
    regions = torch.full((10, 10), BACKGROUND)
    regions[0, :4] = 7
    assert largest_class(regions) is None
    regions[0, :5] = 7
    assert largest_class(regions) == 7
    regions[1, :6] = 3
    assert largest_class(regions) == 3
    regions[2:] = IGNORED
    assert largest_class(regions) == 3
    assert largest_class(torch.full((4, 4), IGNORED)) is None


def test_another_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="has no validation-segmentation or ImageNetS50/validation"):
        imagenet_s(tmp_path)
