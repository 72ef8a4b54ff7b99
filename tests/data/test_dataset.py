"""Order, samples and records of any data set."""

import random
from hashlib import sha256

import numpy as np
import pytest
from PIL import Image

from libragrad.data.dataset import Dataset
from libragrad.data.record import BACKGROUND, Pixels, Record, RegionArray, faulty
from libragrad.errors import DataError
from tests.data.pictures import ids

NAMES = [f"picture-{i}" for i in range(50)]


def dataset(names=NAMES):
    return Dataset(
        "some", tuple(Record(name, (0,), Pixels(np.zeros((2, 2, 3), np.uint8))) for name in names)
    )


def test_records_are_in_the_order_of_their_ids():
    shuffled = random.Random(0).sample(NAMES, k=50)
    assert ids(dataset(shuffled)) == sorted(NAMES)
    assert dataset(shuffled)[3].id == sorted(NAMES)[3]
    assert len(dataset()) == 50


def test_a_slice_is_a_data_set():
    part = dataset()[10:12]
    assert isinstance(part, Dataset)
    assert ids(part) == sorted(NAMES)[10:12]


def test_a_sample_is_what_its_documentation_says():
    def digest(name):
        return sha256(f"7\n{name}".encode()).digest()

    assert ids(dataset().sample(8, seed=7)) == sorted(sorted(NAMES, key=digest)[:8])


def test_a_sample_does_not_depend_on_the_order_of_the_files():
    shuffled = random.Random(0).sample(NAMES, k=50)
    assert ids(dataset(shuffled).sample(9, seed=1)) == ids(dataset().sample(9, seed=1))
    assert ids(dataset().sample(9, seed=1)) != ids(dataset().sample(9, seed=2))


def test_small_samples_lie_in_large_ones_and_a_lost_file_changes_one_place():
    large, small = set(ids(dataset().sample(20))), set(ids(dataset().sample(5)))
    assert small < large
    lost = min(large)
    without = set(ids(dataset([name for name in NAMES if name != lost]).sample(20)))
    assert large - without == {lost}
    assert len(without - large) == 1


def test_more_than_there_is_cannot_be_drawn():
    assert ids(dataset().sample(50)) == sorted(NAMES)
    with pytest.raises(DataError, match=r"^some has 50 records, so 51 cannot be drawn$"):
        dataset().sample(51)


def test_an_id_names_one_record():
    with pytest.raises(DataError, match="some lists 'picture-1' more than once"):
        dataset([*NAMES, "picture-1"])


def test_a_fault_is_heard_when_its_picture_is_asked_for():
    data = Dataset("some", (faulty("a", "a.png is gone"), dataset()[0]))
    assert len(data) == 2
    with pytest.raises(DataError, match=r"^a\.png is gone$"):
        data[0].picture()
    assert data[1].picture().size == (2, 2)


def test_a_picture_comes_with_a_mask_of_its_size():
    grey = np.zeros((4, 6, 3), np.uint8)
    regions = np.full((4, 6), BACKGROUND, np.int32)
    picture, class_map = Record("a", (0,), Pixels(grey), RegionArray(regions)).segmented()
    assert isinstance(picture, Image.Image)
    assert picture.size == (6, 4)
    assert np.array_equal(class_map, regions)
    with pytest.raises(DataError, match="a has a picture of 6 × 4 pixels and a mask of 4 × 6"):
        Record("a", (0,), Pixels(grey), RegionArray(regions.T)).segmented()
    with pytest.raises(DataError, match="a has no mask"):
        Record("a", (0,), Pixels(grey)).segmented()


def test_a_mask_can_be_changed_without_changing_the_data():
    regions = np.zeros((2, 2), np.int32)
    record = Record("a", (0,), Pixels(np.zeros((2, 2, 3), np.uint8)), RegionArray(regions))
    record.class_map()[:] = 5
    assert (record.class_map() == 0).all()
