"""Folders of pictures, with a folder a class or without."""

import pytest
from PIL import Image

from libragrad.data.image_folder import image_folder
from libragrad.errors import DataError, PictureError
from tests.data.pictures import ids, labels, put


def test_a_folder_a_class(tmp_path):
    for name in ("dog/b.png", "cat/a.JPG", "cat/more/c.png", "cat/notes.txt", "cat/.hidden.png"):
        put(tmp_path / name)
    data = image_folder(tmp_path)
    assert data.classes == ("cat", "dog")
    assert ids(data) == ["cat/a.JPG", "cat/more/c.png", "dog/b.png"]
    assert labels(data) == [(0,), (0,), (1,)]
    assert data[1].picture().size == (8, 6)


def test_pictures_alone_have_no_labels(tmp_path):
    put(tmp_path / "b.png")
    put(tmp_path / "a.png")
    data = image_folder(tmp_path)
    assert data.classes is None
    assert (ids(data), labels(data)) == (["a.png", "b.png"], [(), ()])


def test_ones_own_photographs_are_turned_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (8, 6)).save(tmp_path / "a.jpg", exif=exif)
    assert image_folder(tmp_path)[0].picture().size == (6, 8)


def test_a_broken_picture_is_listed_and_named_when_it_is_read(tmp_path):
    put(tmp_path / "a.png", b"")
    put(tmp_path / "b.png")
    broken, sound = image_folder(tmp_path)
    with pytest.raises(PictureError, match=r"a\.png is empty"):
        broken.picture()
    assert sound.picture().size == (8, 6)


def test_a_picture_that_went_away_is_named(tmp_path):
    put(tmp_path / "a.png")
    data = image_folder(tmp_path)
    (tmp_path / "a.png").unlink()
    with pytest.raises(PictureError, match=r"a\.png does not exist"):
        data[0].picture()


def test_no_pictures_and_no_folder(tmp_path):
    with pytest.raises(DataError, match=f"^{tmp_path} holds no picture"):
        image_folder(tmp_path)
    with pytest.raises(DataError, match="reads the pictures of a folder, and None is none"):
        image_folder(None)
