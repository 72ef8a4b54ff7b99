"""Oxford-IIIT Pet: lists with comments, breeds from 1, trimaps."""

import numpy as np
import pytest

from libragrad.data.oxford_pet import oxford_pet
from libragrad.data.record import BACKGROUND, IGNORED
from libragrad.errors import DataError, PictureError
from tests.data.pictures import ids, labels, put

TRIMAP = np.array([[2, 2, 3, 1, 1, 3, 2, 2]] * 6, np.uint8)
LIST = """#Image CLASS-ID SPECIES BREED ID
#ID: 1:37 Class ids
Abyssinian_100 1 1 1
american_bulldog_10 2 2 1
Abyssinian_201 1 1 1
"""


@pytest.fixture
def root(tmp_path):
    annotations = tmp_path / "annotations"
    for name in ("Abyssinian_100", "american_bulldog_10", "Abyssinian_201"):
        put(tmp_path / "images" / f"{name}.jpg")
        put(annotations / "trimaps" / f"{name}.png", TRIMAP)
    put(annotations / "trimaps" / "._Abyssinian_100.png", b"another system's leavings")
    (annotations / "list.txt").write_text(LIST)
    (annotations / "test.txt").write_text("Abyssinian_201 1 1 1\namerican_bulldog_10 2 2 1\n")
    return tmp_path


def test_the_test_split_and_the_whole_list(root):
    data = oxford_pet(root)
    assert ids(data) == ["Abyssinian_201", "american_bulldog_10"]
    assert labels(data) == [(0,), (1,)]
    assert data.classes == ("Abyssinian", "american_bulldog")
    assert len(oxford_pet(root, "list")) == 3


def test_trimaps(root):
    for record in oxford_pet(root):
        picture, regions = record.segmented()
        assert picture.size == (8, 6)
        meaning = {1: record.labels[0], 2: BACKGROUND, 3: IGNORED}
        assert np.array_equal(regions, np.vectorize(meaning.get)(TRIMAP))


def test_a_picture_of_another_size_than_its_trimap_is_refused(root):
    put(root / "annotations/trimaps/Abyssinian_201.png", TRIMAP.T.copy())
    with pytest.raises(DataError, match="8 × 6 pixels and a mask of 6 × 8: they do not belong"):
        oxford_pet(root)[0].segmented()


def test_bad_lines_and_missing_files_are_named(root):
    (root / "annotations/test.txt").write_text("Abyssinian_201 1 1\nnobody_1 2 2 1\n")
    bad, missing = oxford_pet(root)
    with pytest.raises(DataError, match=r"test\.txt, line 1: 'Abyssinian_201 1 1' is no name with"):
        bad.picture()
    with pytest.raises(PictureError, match=r"images/nobody_1\.jpg does not exist"):
        missing.picture()


def test_a_part_of_it_as_a_table(root):
    (root / "labels.tsv").write_text("name\timagenet_index\tbreed\nAbyssinian_100\t285\tcat\n")
    (root / "annotations/trimaps").rename(root / "trimaps")
    (record,) = data = oxford_pet(root)
    assert (data.name, record.labels) == ("oxford-pet", (285,))
    assert ((record.segmented()[1] == 285) == (TRIMAP == 1)).all()


def test_another_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no annotations/test\.txt"):
        oxford_pet(tmp_path)
