"""ImageNet-1k validation in its true layouts: one label space, one set of ids."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from libragrad.data import hub
from libragrad.data.imagenet import TRUTH, imagenet, labels_by_wnid, wnids
from libragrad.errors import DataError, PictureError
from tests.data.pictures import encoded, ids, labels, put

ASSETS = Path(__file__).parents[3] / "shared" / "assets"
ZEBRA, TENCH, GOLDFISH = "n02391049", "n01440764", "n01443537"


def write_folders(root):
    put(root / "val" / ZEBRA / "ILSVRC2012_val_00000003.JPEG")
    put(root / "val" / TENCH / "ILSVRC2012_val_00000001.JPEG")
    put(root / "val" / GOLDFISH / "ILSVRC2012_val_00000002.JPEG")


def write_flat(root):
    """The devkit numbers the classes in an order of its own: here zebra 1, goldfish 2, tench 3."""
    scipy_io = pytest.importorskip("scipy.io")
    for number in (1, 2, 3):
        put(root / "val" / f"ILSVRC2012_val_{number:08d}.JPEG")
    devkit = root / "ILSVRC2012_devkit_t12" / "data"
    devkit.mkdir(parents=True)
    (devkit / TRUTH).write_text("3\n2\n1\n")
    fields = [("ILSVRC2012_ID", object), ("WNID", object), ("words", object)]
    synsets = np.empty((3, 1), dtype=fields)
    for row, wnid in enumerate([ZEBRA, GOLDFISH, TENCH]):
        synsets[row, 0] = (np.array([[row + 1]], np.uint8), wnid, "some, words")
    scipy_io.savemat(devkit / "meta.mat", {"synsets": synsets})


def write_hub(root):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (root / "data").mkdir()
    wnid_of = {0: TENCH, 1: GOLDFISH, 340: ZEBRA}
    for shard, rows in enumerate([[(1, 0), (2, 1)], [(3, 340)]]):
        table = pa.table(
            {
                "image": [
                    {
                        "bytes": encoded(kind="JPEG"),
                        "path": f"ILSVRC2012_val_{number:08d}_{wnid_of[label]}.JPEG",
                    }
                    for number, label in rows
                ],
                "label": [label for _, label in rows],
            }
        )
        name = f"validation-{shard:05d}-of-00002.parquet"
        parquet.write_table(table, root / "data" / name, row_group_size=1)


def write_table(root):
    rows = [(1, 0), (2, 1), (3, 340)]
    names = [f"{label:04d}_ILSVRC2012_val_{number:08d}.jpg" for number, label in rows]
    for name in names:
        put(root / name)
    lines = [f"{name}\t{label}\tw\tn" for name, (_, label) in zip(names, rows, strict=True)]
    (root / "labels.tsv").write_text("\n".join(["file\tclass_index\twnid\tname", *lines]))


LAYOUTS = {"folders": write_folders, "flat": write_flat, "hub": write_hub, "table": write_table}


@pytest.fixture(params=list(LAYOUTS.values()), ids=list(LAYOUTS))
def root(request, tmp_path):
    request.param(tmp_path)
    return tmp_path


def test_every_layout_gives_the_same_records(root):
    data = imagenet(root)
    assert ids(data) == [f"ILSVRC2012_val_{number:08d}" for number in (1, 2, 3)]
    assert labels(data) == [(0,), (1,), (340,)]
    assert data.classes == wnids()
    assert all(record.picture().size == (8, 6) for record in data)


def test_the_classes_are_the_thousand_in_alphabetical_order():
    assert len(wnids()) == 1000
    assert list(wnids()) == sorted(set(wnids()))
    assert [labels_by_wnid()[w] for w in (TENCH, ZEBRA, "n15075141")] == [0, 340, 999]


@pytest.mark.skipif(not ASSETS.is_dir(), reason="needs the shared pictures")
def test_the_classes_are_those_of_the_shared_table():
    rows = (ASSETS / "imagenet_val_1000" / "labels.tsv").read_text().splitlines()[1:]
    assert [row.split("\t")[2] for row in rows] == list(wnids())


def test_the_class_folders_may_be_the_root_itself(tmp_path):
    write_folders(tmp_path)
    assert ids(imagenet(tmp_path / "val")) == ids(imagenet(tmp_path))


def test_an_unknown_class_folder_is_named(tmp_path):
    write_folders(tmp_path)
    put(tmp_path / "val" / "n99999999" / "ILSVRC2012_val_00000004.JPEG")
    with pytest.raises(DataError, match=r"n99999999 is none of the 1,000 classes"):
        imagenet(tmp_path)[3].picture()


def test_a_missing_picture_and_a_bad_line_are_named(tmp_path):
    write_flat(tmp_path)
    (tmp_path / "val" / "ILSVRC2012_val_00000002.JPEG").unlink()
    (tmp_path / "ILSVRC2012_devkit_t12" / "data" / TRUTH).write_text("3\n2\n1001\n")
    sound, missing, bad = imagenet(tmp_path)
    assert sound.picture().size == (8, 6)
    with pytest.raises(PictureError, match=r"ILSVRC2012_val_00000002\.JPEG does not exist"):
        missing.picture()
    with pytest.raises(DataError, match=r"ground_truth\.txt, line 3: '1001' is no class's number"):
        bad.picture()


def test_a_devkit_without_its_meanings_is_refused(tmp_path):
    write_flat(tmp_path)
    meta = tmp_path / "ILSVRC2012_devkit_t12" / "data" / "meta.mat"
    meta.write_bytes(b"broken")
    with pytest.raises(DataError, match=r"meta\.mat is no sound devkit"):
        imagenet(tmp_path)
    meta.unlink()
    with pytest.raises(DataError, match=r"meta\.mat does not exist, and it says what the numbers"):
        imagenet(tmp_path)


def test_missing_and_broken_shards_are_records_that_say_so(tmp_path):
    write_hub(tmp_path)
    first, second = sorted((tmp_path / "data").iterdir())
    second.unlink()
    missing = imagenet(tmp_path)[2]
    assert missing.id == second.name
    with pytest.raises(DataError, match=r"validation-00001-of-00002\.parquet cannot be read"):
        missing.picture()
    second.write_bytes(first.read_bytes()[:-9])
    assert len(imagenet(tmp_path)) == 3
    with pytest.raises(DataError, match=r"validation-00001-of-00002\.parquet cannot be read"):
        imagenet(tmp_path)[2].picture()


def test_a_broken_picture_in_a_shard_is_named(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    pictures = [{"bytes": b"no", "path": None}, {"bytes": None, "path": None}, None]
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    table = pa.table({"image": pa.array(pictures, kind), "label": [0, 1, 1000]})
    parquet.write_table(table, tmp_path / "validation-00000-of-00001.parquet")
    no_picture, no_bytes, no_class = imagenet(tmp_path)
    assert no_bytes.id == "validation-00000-of-00001/00001"
    with pytest.raises(PictureError, match=r"00001\.parquet, row group 0, row 0 is no picture"):
        no_picture.picture()
    with pytest.raises(DataError, match="row group 0, row 1 holds no picture"):
        no_bytes.picture()
    with pytest.raises(DataError, match="the label 1000 is none of the 1,000 classes"):
        no_class.picture()


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no ImageNet validation set: no validation-"):
        imagenet(tmp_path)
    with pytest.raises(DataError, match="which is no folder"):
        imagenet(tmp_path / "nowhere")


def test_without_network_one_sentence_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr("libragrad.models.network.has_network", lambda: False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    message = (
        "^the files of ILSVRC/imagenet-1k are not on this machine, and the network cannot be "
        "reached: give the folder of a copy, or use builtin:mosaic, which needs no network$"
    )
    with pytest.raises(DataError, match=message):
        imagenet()


def test_the_hub_is_asked_for_the_split_and_read_as_a_folder(monkeypatch, tmp_path):
    write_hub(tmp_path)
    asked: dict[str, Any] = {}

    def snapshot(repository, **options):
        asked.update(options, repository=repository)
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    monkeypatch.setattr("libragrad.models.network.has_network", lambda: True)
    assert len(imagenet()) == 3
    assert asked["repository"] == "ILSVRC/imagenet-1k"
    assert asked["repo_type"] == "dataset"
    assert "data/validation-*.parquet" in asked["allow_patterns"]
    assert hub.fetch("some/other", "test") == tmp_path
