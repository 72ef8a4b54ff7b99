"""COCO: categories with gaps in their numbers, outlines in COCO's three ways of writing them."""

import json

import numpy as np
import pytest

from libragrad.data.coco import coco, zebra_and_elephant
from libragrad.data.record import BACKGROUND, IGNORED
from libragrad.errors import DataError
from tests.data.pictures import encoded, ids, labels, put

codec = pytest.importorskip("pycocotools.mask")

# pycocotools' own array conversion is older than NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

CATEGORIES = [
    {"id": 24, "name": "zebra", "supercategory": "animal"},
    {"id": 1, "name": "person", "supercategory": "person"},
    {"id": 22, "name": "elephant", "supercategory": "animal"},
]
PERSON, ELEPHANT, ZEBRA = 0, 1, 2


def box(left, top, right, bottom):
    return [[left, top, right, top, right, bottom, left, bottom]]


def counts(mask):
    """An outline as run lengths down the columns, as COCO writes crowds."""
    flat = mask.flatten(order="F").astype(int)
    ends = np.flatnonzero(np.diff(np.concatenate([[1 - flat[0]], flat, [1 - flat[-1]]])))
    runs = np.diff(ends).tolist()
    return {"size": list(mask.shape), "counts": runs if flat[0] == 0 else [0, *runs]}


def write(root, things, split="val2017"):
    """`things`: picture number → list of (category, outline, crowd); pictures of 20 × 10."""
    images = [
        {"id": number, "file_name": f"{number:012d}.jpg", "height": 10, "width": 20}
        for number in things
    ]
    annotations = [
        {"id": i, "image_id": n, "category_id": c, "segmentation": s, "iscrowd": crowd, "area": 1}
        for i, (n, c, s, crowd) in enumerate(
            (n, *thing) for n, own in things.items() for thing in own
        )
    ]
    for image in images:
        put(root / split / image["file_name"], encoded(size=(20, 10), kind="JPEG"))
    path = root / "annotations" / f"instances_{split}.json"
    path.parent.mkdir()
    path.write_text(
        json.dumps({"images": images, "annotations": annotations, "categories": CATEGORIES})
    )
    return path


def test_outlines_become_a_class_map(tmp_path):
    crowd = np.zeros((10, 20), bool)
    crowd[:, 15:] = True
    things = [(22, box(0, 0, 10, 10), 0), (24, box(2, 2, 6, 8), 0), (1, counts(crowd), 1)]
    write(tmp_path, {139: things})
    (record,) = coco(tmp_path)
    assert (record.id, record.labels) == ("000000000139", (ELEPHANT, ZEBRA, PERSON))
    picture, regions = record.segmented()
    assert picture.size == (20, 10)
    expected = np.full((10, 20), BACKGROUND)
    expected[:, :10] = ELEPHANT
    expected[2:8, 2:6] = ZEBRA  # the smaller one is in front
    expected[:, 15:] = IGNORED
    assert np.array_equal(regions, expected)


def test_packed_run_lengths_are_read(tmp_path):
    mask = np.zeros((10, 20), np.uint8)
    mask[3:5, 4:9] = 1
    packed = codec.encode(np.asfortranarray(mask))
    packed["counts"] = packed["counts"].decode()
    write(tmp_path, {1: [(24, packed, 0)]})
    assert np.array_equal(coco(tmp_path)[0].class_map() == ZEBRA, mask.astype(bool))


def test_pictures_without_things_are_there(tmp_path):
    write(tmp_path, {1: [], 2: [(1, box(0, 0, 5, 5), 0)]})
    data = coco(tmp_path)
    assert data.classes == ("person", "elephant", "zebra")
    assert labels(data) == [(), (PERSON,)]
    assert (data[0].class_map() == BACKGROUND).all()


def test_zebra_and_elephant_are_both_there_and_not_small(tmp_path):
    large, small = box(0, 0, 10, 10), box(0, 0, 2, 5)  # half, and a twentieth, of the picture
    halves = [(24, box(10, 0, 11, 10), 0), (24, box(12, 0, 13, 10), 0)]  # a tenth together
    write(
        tmp_path,
        {
            1: [(24, large, 0), (22, large, 0)],
            2: [(24, large, 0)],
            3: [(24, large, 0), (22, small, 0)],
            4: [*halves, (22, large, 0)],
            5: [(24, large, 0), (1, large, 0)],
        },
        "train2017",
    )
    chosen = zebra_and_elephant(tmp_path)
    assert chosen.name == "coco-zebra-elephant"
    assert ids(chosen) == ["000000000001", "000000000004"]
    both = coco(tmp_path, "train2017", contains=("zebra", "elephant"))
    assert ids(both) == ["000000000001", "000000000003", "000000000004"]


def test_unknown_classes_and_broken_annotations_are_refused(tmp_path):
    path = write(tmp_path, {1: [(24, {"size": [10, 20], "counts": "\x00"}, 0)]})
    with pytest.raises(DataError, match="COCO has no class 'zebras': it has person, elephant, ze"):
        coco(tmp_path, contains=("zebras",))
    path.write_text(path.read_text()[:-30])
    with pytest.raises(DataError, match=r"instances_val2017\.json is no sound COCO annotation"):
        coco(tmp_path)


def test_a_broken_outline_is_named_when_it_is_read(tmp_path):
    write(tmp_path, {1: [(24, "no outline", 0)], 2: [(24, box(0, 0, 5, 5), 0)]})
    broken, sound = coco(tmp_path)
    with pytest.raises(DataError, match=r"an outline in 000000000001\.jpg is broken"):
        broken.class_map()
    assert (sound.class_map() == ZEBRA).sum() == 25


def test_another_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no annotations/instances_val2017\.json"):
        coco(tmp_path)
