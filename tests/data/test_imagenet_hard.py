"""ImageNet-Hard in the hub's layout: several labels a picture, the first one counts."""

import sys

import pytest

from libragrad.data.imagenet_hard import imagenet_hard
from libragrad.errors import DataError
from tests.data.pictures import encoded, ids

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def write(root, labels):
    table = pa.table(
        {
            "image": [{"bytes": encoded(kind="JPEG"), "path": None} for _ in labels],
            "label": pa.array(labels, pa.list_(pa.int64())),
            "origin": ["imagenet_a"] * len(labels),
            "english_label": pa.array([["?"] * len(own) for own in labels], pa.list_(pa.string())),
        }
    )
    (root / "data").mkdir()
    parquet.write_table(table, root / "data" / "validation-00000-of-00001.parquet")


def test_all_labels_are_kept_and_the_first_comes_first(tmp_path):
    write(tmp_path, [[340, 7], [0]])
    data = imagenet_hard(tmp_path)
    assert ids(data) == [f"validation-00000-of-00001/{row:05d}" for row in (0, 1)]
    assert [record.labels for record in data] == [(340, 7), (0,)]
    assert data[1].picture().size == (8, 6)


def test_a_picture_without_a_label_is_named(tmp_path):
    write(tmp_path, [[], [1000], [5]])
    none, unknown, sound = imagenet_hard(tmp_path)
    with pytest.raises(DataError, match=r"00000-of-00001/00000: the labels \(\) are none"):
        none.picture()
    with pytest.raises(DataError, match=r"the labels \(1000,\) are none of the 1,000 classes"):
        unknown.picture()
    assert sound.labels == (5,)


def test_without_pyarrow_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    write(tmp_path, [[5]])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"^Parquet files are read with pyarrow: pip install 'libr"):
        imagenet_hard(tmp_path)


def test_another_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"holds no imagenet-hard: no validation-\*\.parquet"):
        imagenet_hard(tmp_path)
