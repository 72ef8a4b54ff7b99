"""MURA: the label of a picture is that of its study."""

import pytest

from libragrad.data.mura import mura
from libragrad.errors import DataError, PictureError
from tests.data.pictures import ids, labels, put

STUDY = "MURA-v1.1/valid/XR_WRIST/patient11185/study1_positive/"
OTHER = "MURA-v1.1/valid/XR_HAND/patient11186/study2_negative/"


@pytest.fixture
def root(tmp_path):
    paths = [f"{STUDY}image1.png", f"{STUDY}image2.png", f"{OTHER}image1.png"]
    for path in paths:
        put(tmp_path / path)
    base = tmp_path / "MURA-v1.1"
    (base / "valid_image_paths.csv").write_text("\n".join(paths) + "\n")
    (base / "valid_labeled_studies.csv").write_text(f"{STUDY},1\n{OTHER},0\n")
    return tmp_path


@pytest.mark.parametrize("at", ["", "MURA-v1.1"])
def test_pictures_with_the_labels_of_their_studies(root, at):
    data = mura(root / at)
    assert data.classes == ("normal", "abnormal")
    assert ids(data) == [
        "valid/XR_HAND/patient11186/study2_negative/image1.png",
        "valid/XR_WRIST/patient11185/study1_positive/image1.png",
        "valid/XR_WRIST/patient11185/study1_positive/image2.png",
    ]
    assert labels(data) == [(0,), (1,), (1,)]
    assert data[2].picture().size == (8, 6)


def test_a_study_without_a_label_and_a_missing_picture_are_named(root):
    (root / "MURA-v1.1" / "valid_labeled_studies.csv").write_text(f"{STUDY},1\n")
    (root / STUDY / "image2.png").unlink()
    unlabelled, sound, missing = mura(root)
    with pytest.raises(DataError, match=r"valid_image_paths\.csv, line 3: .* no usable label"):
        unlabelled.picture()
    assert sound.picture().size == (8, 6)
    with pytest.raises(PictureError, match=r"study1_positive/image2\.png does not exist"):
        missing.picture()


def test_another_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"no valid_image_paths\.csv or MURA-v1\.1/valid_image"):
        mura(tmp_path)
    with pytest.raises(DataError, match="mura is read from a folder: give its path"):
        mura(None)
