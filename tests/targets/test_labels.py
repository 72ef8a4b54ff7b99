"""A label is a class's own name, in the model's own words."""

from __future__ import annotations

import pytest
import timm
import torch
import torchvision
from torch import nn
from transformers import ViTConfig, ViTForImageClassification

from libragrad import TargetError
from libragrad.models.mosaic import LABELS, MosaicViT
from libragrad.targets import labels_of
from libragrad.targets.names import find_label


@pytest.fixture(scope="module")
def imagenet():
    with torch.device("meta"):
        labels = labels_of(timm.create_model("vit_tiny_patch16_224"), 1000)
    assert labels is not None
    return labels


# Names and their indices in ImageNet-1k.
NAMES = [
    ("zebra", 340),
    ("Zebra", 340),
    ("African elephant", 386),
    ("african_elephant", 386),
    ("Loxodonta africana", 386),
    ("African elephant, Loxodonta africana", 386),
    ("tench", 0),
    ("Tinca tinca", 0),
    ("tiger", 292),  # a whole synonym before the words of "tiger cat", "tiger shark", …
    ("retriever, golden", None),
    ("Panthera tigris", 292),
    ("toilet tissue", 999),
    ("shower cap", 793),
    ("hummingbir", 94),
    ("Labrador", 208),
    ("Egyptian", 285),
]


@pytest.mark.parametrize(("name", "index"), [row for row in NAMES if row[1] is not None])
def test_imagenet_by_its_names(imagenet, name, index):
    assert find_label(name, imagenet) == index


def test_a_name_of_two_classes_is_refused(imagenet):
    with pytest.raises(
        TargetError, match=r"'crane' is ambiguous: it names 'crane' \(134\), 'crane' \(517\)"
    ):
        find_label("crane", imagenet)
    with pytest.raises(TargetError, match=r"'terrier' is ambiguous.* and \d+ more; give the whole"):
        find_label("terrier", imagenet)


def test_an_unknown_name_gets_its_neighbours(imagenet):
    with pytest.raises(
        TargetError, match=r"no class is named 'afrcan elefant'.*'African elephant' \(386\)"
    ):
        find_label("afrcan elefant", imagenet)


@pytest.mark.parametrize("classes", [11221, 11821, 21841, 21842, 21843])
def test_the_larger_imagenets(classes):
    model = nn.Linear(1, 1)
    model.pretrained_cfg = {"num_classes": classes}  # type: ignore[assignment]
    labels = labels_of(model, classes)
    assert labels is not None
    assert len(labels) == classes
    assert labels[find_label("African elephant", labels)].startswith("African elephant")


def test_timm_models_with_classes_of_their_own():
    names = {"label_names": ["n1", "n2"], "label_descriptions": {"n2": "a lynx"}}
    with torch.device("meta"):
        two = timm.create_model("vit_tiny_patch16_224", num_classes=2, pretrained_cfg_overlay=names)
        seven = timm.create_model("vit_tiny_patch16_224", num_classes=7)
    assert labels_of(two, 2) == ("n1", "a lynx")
    assert labels_of(seven, 7) is None


def test_a_transformers_config_names_its_classes():
    config = ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        image_size=16, patch_size=8, id2label={1: "horse", 0: "zebra", 2: "tusker"},
    )  # fmt: skip
    model = ViTForImageClassification(config)
    assert labels_of(model, 3) == ("zebra", "horse", "tusker")
    assert labels_of(nn.Sequential(nn.Identity(), model), 3) == ("zebra", "horse", "tusker")
    assert labels_of(model, 4) is None


def test_torchvision_with_a_thousand_classes():
    with torch.device("meta"):
        labels = labels_of(torchvision.models.resnet18(), 1000)
        assert labels_of(torchvision.models.resnet18(num_classes=10), 10) is None
    assert labels is not None
    assert (labels[340], labels[386]) == ("zebra", "African elephant")


def test_the_mosaic_model_names_its_classes():
    with torch.device("meta"):
        assert labels_of(MosaicViT(), 10) == LABELS


def test_a_model_that_says_nothing():
    assert labels_of(nn.Linear(3, 1000), 1000) is None
