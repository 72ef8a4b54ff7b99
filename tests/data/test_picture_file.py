"""Any picture becomes upright RGB; anything else becomes one sentence that names the file."""

import io
import os
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from libragrad.data.picture_file import open_picture, to_rgb
from libragrad.errors import PictureError
from tests.data.pictures import RED, encoded


def saved(picture, kind="PNG", **options):
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def pixels(raw, **options):
    return np.asarray(open_picture(raw, **options))


RAMP = np.arange(0, 256, dtype=np.uint8).reshape(16, 16)
COLOURS = np.stack([RAMP, RAMP[::-1], RAMP.T], axis=-1)


def palette():
    return Image.fromarray(COLOURS).quantize(256)


MODES = {
    "colour": (Image.fromarray(COLOURS), COLOURS),
    "grey": (Image.fromarray(RAMP), np.stack([RAMP] * 3, -1)),
    "one bit": (Image.fromarray(RAMP > 99), np.stack([(RAMP > 99) * np.uint8(255)] * 3, -1)),
    "16 bits": (Image.fromarray(RAMP.astype(np.uint16) * 257), np.stack([RAMP] * 3, -1)),
    "palette": (palette(), np.asarray(palette().convert("RGB"))),
    "opaque": (Image.fromarray(COLOURS).convert("RGBA"), COLOURS),
    "transparent": (Image.new("RGBA", (16, 16), (9, 9, 9, 0)), np.full((16, 16, 3), 255)),
    "half transparent": (Image.new("LA", (16, 16), (0, 128)), np.full((16, 16, 3), 127)),
}


@pytest.mark.parametrize(("picture", "expected"), MODES.values(), ids=MODES.keys())
def test_every_mode_becomes_rgb(picture, expected):
    assert np.array_equal(pixels(saved(picture)), expected)


def test_a_transparent_colour_of_a_palette_is_white():
    picture = Image.new("P", (4, 4), 0)
    picture.putpalette([10, 20, 30] * 256)
    assert (pixels(saved(picture, transparency=0)) == 255).all()


def test_cmyk_is_converted():
    inks = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    assert np.abs(pixels(saved(inks, "JPEG", quality=95)).astype(int) - (255, 0, 0)).max() < 6


def test_a_float_picture_from_0_to_1_is_read_and_any_other_is_refused():
    unit = Image.fromarray(RAMP.astype(np.float32) / 255)
    assert np.array_equal(np.asarray(to_rgb(unit)), np.stack([RAMP] * 3, -1))
    counts = saved(Image.fromarray(RAMP.astype(np.float32) * 1000), "TIFF")
    with pytest.raises(PictureError, match=r"^x\.tif holds numbers from 0\.0 to 255000\.0, and no"):
        open_picture(counts, "x.tif")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "AVIF"])
def test_every_format_is_read_whatever_the_name_says(kind, tmp_path):
    path = tmp_path / "picture.xyz"
    path.write_bytes(encoded(RED, kind=kind))
    picture = open_picture(path)
    assert (picture.mode, picture.size) == ("RGB", (8, 6))
    assert np.abs(np.asarray(picture).astype(int) - RED).max() < 8


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_turns_a_picture_unless_its_pixels_are_meant(orientation):
    """The stored pixels are what a camera in that orientation stores of `COLOURS`."""
    turns = {
        1: lambda a: a,
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.swapaxes(0, 1),
        6: lambda a: a.swapaxes(0, 1)[::-1],
        7: lambda a: a.swapaxes(0, 1)[::-1, ::-1],
        8: lambda a: a.swapaxes(0, 1)[:, ::-1],
    }
    upright = COLOURS[:10]
    stored = np.ascontiguousarray(turns[orientation](upright))
    exif = Image.Exif()
    exif[0x0112] = orientation
    raw = saved(Image.fromarray(stored), exif=exif)
    assert np.array_equal(pixels(raw), upright)
    assert np.array_equal(pixels(raw, upright=False), stored)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "TIFF"])
def test_an_animation_gives_its_first_frame(kind):
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "lime", "blue")]
    lossless = {"lossless": True} if kind == "WEBP" else {}
    raw = saved(frames[0], kind, save_all=True, append_images=frames[1:], **lossless)
    assert (pixels(raw) == (255, 0, 0)).all()


def archive():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("a.png", encoded())
    return buffer.getvalue()


def claim(width, height):
    """A PNG whose header claims a size and that holds next to nothing."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


REFUSED = {
    "empty": (b"", "is empty: it holds no bytes; get it again"),
    "zip": (archive(), r"is no picture that can be read here \(JPEG, .*, whatever its name says"),
    "text": (b"<svg></svg>", "is no picture that can be read here"),
    "PostScript": (b"%!PS-Adobe-3.0 EPSF-3.0\n", "is no picture that can be read here"),
    "cut JPEG": (encoded(size=(64, 64), kind="JPEG")[:-60], "is a broken or truncated JPEG file"),
    "cut PNG": (encoded(size=(64, 64))[:-40], "is a broken or truncated PNG file"),
    "bomb": (claim(60_000, 60_000), "is too large to be safe"),
    "large": (
        claim(8_000, 8_000),
        "has 8000 × 8000 pixels, and at most 50,000,000 in all are read",
    ),
    "thread": (
        claim(20_000, 10),
        "has 20000 × 10 pixels, and a side may be at most 100 times",
    ),
}


@pytest.mark.parametrize(("raw", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_read_is_refused_by_name(raw, reason, tmp_path):
    path = tmp_path / "holiday.png"
    path.write_bytes(raw)
    with pytest.raises(PictureError, match=f"^{path} {reason}"):
        open_picture(path)
    with pytest.raises(PictureError, match=f"^upload {reason}"):
        open_picture(raw, "upload")


def test_a_size_limit_of_ones_own():
    with pytest.raises(PictureError, match="has 8 × 6 pixels, and at most 47 in all are read"):
        open_picture(encoded(), max_pixels=47)
    assert open_picture(encoded(), max_pixels=48).size == (8, 6)


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(PictureError, match=r"nowhere\.png does not exist: check the path"):
        open_picture(tmp_path / "nowhere.png")
    with pytest.raises(PictureError, match=rf"^{tmp_path} is no file: name the file of a picture"):
        open_picture(tmp_path)


def test_a_pipe_is_not_waited_for_and_a_device_not_read_without_end(tmp_path):
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)
    for source in (pipe, Path(os.devnull)):
        with pytest.raises(PictureError, match=rf"^{source} is no file"):
            open_picture(source)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "PPM"]),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=6),
    st.floats(0, 1),
)
def test_broken_bytes_give_a_picture_or_one_sentence(kind, changes, share):
    raw = bytearray(encoded(size=(24, 24), kind=kind))
    for place, value in changes:
        raw[int(place * len(raw))] = value
    try:
        said = open_picture(bytes(raw[: int(share * len(raw))]), "fuzz").mode
    except PictureError as error:
        said = str(error)
    assert said == "RGB" or said.startswith("fuzz ")
