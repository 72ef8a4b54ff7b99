"""Tables of file and label, in the shapes that people have."""

from pathlib import Path

import numpy as np
import pytest

from libragrad.data.record import BACKGROUND, IGNORED
from libragrad.data.tsv import tsv
from libragrad.errors import DataError, PictureError
from tests.data.pictures import ids, labels, put

ASSETS = Path(__file__).parents[3] / "shared" / "assets"


def table(folder, text):
    path = folder / "labels.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_files_beside_the_table(tmp_path):
    put(tmp_path / "0000_a.jpg")
    put(tmp_path / "0001_b.jpg")
    path = table(
        tmp_path,
        "file\tclass_index\twnid\tname\n"
        "0000_a.jpg\t0\tn01440764\ttench\n0001_b.jpg\t1\tn01443537\tgoldfish\n",
    )
    data = tsv(path)
    assert ids(data) == ["0000_a.jpg", "0001_b.jpg"]
    assert labels(data) == [(0,), (1,)]
    assert data[1].picture().size == (8, 6)
    assert ids(tsv(tmp_path)) == ids(data)


def test_names_without_ending_in_a_folder_of_images_and_trimaps(tmp_path):
    put(tmp_path / "images/beagle_195.jpg")
    trimap = np.full((6, 8), 2, np.uint8)
    trimap[1:3, 1:4] = 1
    trimap[3, 1:4] = 3
    put(tmp_path / "trimaps/beagle_195.png", trimap)
    path = table(
        tmp_path, "name\timagenet_index\tbreed\nbeagle_195\t162\tbeagle\npug_1\t254\tpug\n"
    )
    beagle, pug = tsv(path)
    assert beagle.id == "beagle_195"
    _, regions = beagle.segmented()
    expected = np.array([0, 162, BACKGROUND, IGNORED])[trimap]
    assert np.array_equal(regions, expected)
    with pytest.raises(PictureError, match=r"pug_1 does not exist"):
        pug.picture()
    with pytest.raises(DataError, match=r"trimaps/pug_1\.png does not exist"):
        pug.class_map()


def test_names_are_numbered_in_alphabetical_order_and_numbers_are_numbers(tmp_path):
    names = tsv(table(tmp_path, "path\tlabel\na.png\tzebra\nb.png\tant\nc.png\tzebra\n"))
    assert names.classes == ("ant", "zebra")
    assert labels(names) == [(1,), (0,), (1,)]
    numbers = tsv(table(tmp_path, "path\tlabel\na.png\t10\nb.png\t9\n"))
    assert numbers.classes is None
    assert labels(numbers) == [(10,), (9,)]


def test_a_bad_line_is_one_bad_record(tmp_path):
    put(tmp_path / "a.png")
    path = table(tmp_path, "file\tclass_index\na.png\t3\nb.png\tthree\n\nc.png 4\n")
    data = {record.id: record for record in tsv(path)}
    assert data["a.png"].labels == (3,)
    with pytest.raises(DataError, match=r"labels\.tsv, line 3: the label 'three' is no number"):
        data["b.png"].picture()
    with pytest.raises(DataError, match=r"labels\.tsv, line 5 has 1 columns where .* has 2"):
        data[f"{path}, line 5"].picture()


def test_a_table_without_the_columns_says_which_it_needs(tmp_path):
    with pytest.raises(DataError, match=r"has the columns 'picture', 'label' .* file, name, path"):
        tsv(table(tmp_path, "picture\tlabel\n"))
    with pytest.raises(DataError, match="class_index, imagenet_index, label, class: name them"):
        tsv(table(tmp_path, "file\tkind\n"))
    with pytest.raises(DataError, match="reads a table of file and label"):
        tsv(tmp_path / "nowhere.tsv")


def test_a_broken_trimap_is_named(tmp_path):
    put(tmp_path / "images/a.png")
    put(tmp_path / "trimaps/a.png", np.full((6, 8), 7, np.uint8))
    with pytest.raises(DataError, match=r"trimaps/a\.png is no trimap"):
        tsv(table(tmp_path, "name\tclass_index\na\t0\n"))[0].segmented()
    put(tmp_path / "trimaps/a.png", b"no picture")
    with pytest.raises(PictureError, match=r"trimaps/a\.png is no sound PNG mask"):
        tsv(tmp_path)[0].segmented()


@pytest.mark.skipif(not ASSETS.is_dir(), reason="needs the shared pictures")
def test_the_shared_tables():
    photographs, pets = tsv(ASSETS / "imagenet_val_1000"), tsv(ASSETS / "pets_masks_480")
    assert labels(photographs) == [(k,) for k in range(1000)]
    assert min(photographs[500].picture().size) == 256
    assert len(pets) == 480
    for record in pets.sample(20):
        picture, regions = record.segmented()
        assert picture.size == (512, 512)
        assert set(np.unique(regions)) <= {record.labels[0], BACKGROUND, IGNORED}
        assert (regions == record.labels[0]).any()
