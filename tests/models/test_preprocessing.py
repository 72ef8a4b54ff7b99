"""A mask goes through a model's resizing and cropping exactly as its picture does."""

import numpy as np
import pytest
from PIL import Image

from libragrad.models import from_builtin, from_torchvision, mosaic
from libragrad.models.preprocessing import Preprocessing, nearest_steps
from libragrad.models.torchvision_cpu import declare_missing_operators

declare_missing_operators()
timm_data = pytest.importorskip("timm.data")
open_clip = pytest.importorskip("open_clip")
transforms = pytest.importorskip("torchvision.transforms")

PALETTE = np.array(
    [[0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0], [0, 255, 255], [255, 0, 255]]
)
LABELS = np.array([-1, -2, 0, 7, 255, 256, 999], np.int32)  # background, ignored, classes


def blocks(height, width, side=60):
    """A picture of blocks of seven colours, and the class map that gives each colour its label."""
    rows, columns = -(-height // side), -(-width // side)
    kind = np.random.default_rng(0).integers(0, 7, (rows, columns))
    kind = kind.repeat(side, 0).repeat(side, 1)[:height, :width]
    return Image.fromarray(PALETTE[kind].astype(np.uint8)), LABELS[kind]


def of_timm(crop_mode, size=(3, 96, 96)):
    mean, std = (0.5, 0.4, 0.3), (0.2, 0.3, 0.4)
    transform = timm_data.create_transform(
        size,
        is_training=False,
        mean=mean,
        std=std,
        crop_pct=0.9,
        crop_mode=crop_mode,
        interpolation="bicubic",
    )
    return Preprocessing(transform, nearest_steps(transform.transforms), mean, std)


def of_open_clip(mode):
    mean, std = (0.5, 0.4, 0.3), (0.2, 0.3, 0.4)
    transform = open_clip.image_transform(
        96, is_train=False, mean=mean, std=std, resize_mode=mode, fill_color=0
    )
    return Preprocessing(transform, nearest_steps(transform.transforms), mean, std)


def of_torchvision():
    from torchvision.transforms._presets import ImageClassification

    return from_torchvision._preprocessing(ImageClassification(crop_size=96, resize_size=110))


def of_the_mosaics():
    nearest, model = from_builtin._nearest, mosaic.MosaicViT
    return Preprocessing(from_builtin._pixels, nearest, model.mean, model.std)


CASES = {
    "timm, centre": lambda: of_timm("center"),
    "timm, squash": lambda: of_timm("squash"),
    "timm, border": lambda: of_timm("border"),
    "timm, oblong": lambda: of_timm("center", (3, 64, 96)),
    "open_clip, shortest": lambda: of_open_clip("shortest"),
    "open_clip, longest": lambda: of_open_clip("longest"),
    "open_clip, squash": lambda: of_open_clip("squash"),
    "torchvision": of_torchvision,
    "mosaic": of_the_mosaics,
}


PADDING = {"timm, border", "open_clip, longest"}


@pytest.mark.parametrize("shape", [(240, 360), (420, 300), (300, 300)])
@pytest.mark.parametrize("case", CASES)
def test_labels_are_where_their_colours_are(case, shape):
    preprocess = CASES[case]()
    picture, class_map = blocks(*shape)
    x, seen = preprocess(picture), preprocess.mask(class_map).numpy()
    assert seen.shape == x.shape[1:]
    distance = np.abs(preprocess.shown(x)[:, :, None].astype(int) - PALETTE).max(-1)
    pure = distance.min(-1) < 20  # not mixed by the resizing at an edge of a block
    inside = preprocess.mask(np.zeros_like(class_map)).numpy() == 0  # not padded
    assert (pure & inside).mean() > 0.4
    assert inside.all() or case in PADDING
    assert (LABELS[distance.argmin(-1)] == seen)[pure & inside].all()


def test_padding_is_background():
    seen = of_timm("border").mask(np.full((100, 300), 5, np.int32))
    assert set(seen.unique().tolist()) == {-1, 5}
    assert (seen[48] == 5).all()
    assert (seen[0] == -1).all()


def test_every_label_survives():
    same = Preprocessing(transforms.PILToTensor(), nearest_steps([]), (0.0,), (1.0,))
    labels = np.arange(-2, 65533, dtype=np.int32).reshape(-1, 5)
    assert np.array_equal(same.mask(labels).numpy(), labels)


def test_the_pipeline_itself_is_left_as_it_was():
    resize = transforms.Resize(10, interpolation=transforms.InterpolationMode.BICUBIC)
    nearest_steps([resize])
    assert resize.interpolation == transforms.InterpolationMode.BICUBIC


def test_what_is_shown_is_the_cropped_picture():
    picture, _ = blocks(96, 96)
    preprocess = of_open_clip("squash")
    assert np.array_equal(preprocess.shown(preprocess(picture)), np.asarray(picture))
    grey = preprocess(Image.new("L", (96, 96), 77))
    assert (preprocess.shown(grey) == 77).all()
