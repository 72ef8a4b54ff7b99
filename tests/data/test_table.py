"""The table of data sets is complete, helpful when wrong, and right about each of its rows."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from libragrad.data import DATASETS, find_dataset, load_dataset
from libragrad.data.record import BACKGROUND
from libragrad.errors import DataError
from libragrad.models.mosaic.data import mosaic_images


def test_every_data_set_has_a_row():
    folder = Path(find_dataset.__code__.co_filename).parent
    shared = "__init__ dataset hub listing parquet picture_file record table trimap".split()
    own = {path.stem for path in folder.glob("*.py")} - set(shared)
    assert {row.load.__module__.rpartition(".")[2] for row in DATASETS.values()} == own


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("imagnet", "did you mean 'imagenet'?"),
        ("builtin:mosiac", "did you mean 'builtin:mosaic'?"),
        ("oxford_pet", "did you mean 'oxford-pet'?"),
        ("qqq", f"there are {', '.join(DATASETS)}"),
    ],
)
def test_an_unknown_name_gives_a_hint(wrong, hint):
    with pytest.raises(DataError) as error:
        load_dataset(wrong)
    assert str(error.value) == f"no data set {wrong!r}; {hint}"


@pytest.mark.parametrize(
    "name", ["mura", "oxford-pet", "coco", "imagenet-s", "tsv", "image-folder"]
)
def test_a_data_set_without_its_path_asks_for_it(name):
    with pytest.raises(DataError, match=r"give (its path|one)$"):
        load_dataset(name)


def test_the_built_in_takes_no_path(tmp_path):
    with pytest.raises(
        DataError, match="builtin:mosaic comes with the package: leave out the path"
    ):
        load_dataset("builtin:mosaic", tmp_path)


@pytest.mark.parametrize("name", ["builtin:mosaic", "builtin:mosaic-cells"])
def test_the_built_in_is_the_package_s_data(name):
    data, truth = load_dataset(name), mosaic_images()
    assert (data.name, len(data)) == (name, len(truth))
    for index in (0, 7, 399):
        picture, regions = data[index].segmented()
        assert np.array_equal(np.asarray(picture), truth.images[index])
        assert data[index].labels == tuple(truth.cells[index].flat)
        mask = truth.object_mask if name == "builtin:mosaic" else truth.cell_mask
        for label in range(10):
            assert np.array_equal(regions == label, mask(index, label))
        assert set(np.unique(regions)) <= {BACKGROUND, *data[index].labels}


def test_records_travel_to_other_processes():
    record = load_dataset("builtin:mosaic")[3]
    copy = pickle.loads(pickle.dumps(record))
    assert copy.id == record.id
    assert np.array_equal(copy.class_map(), record.class_map())
    assert len(pickle.dumps(record)) < 50_000
