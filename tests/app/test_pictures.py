"""Every kind of picture that somebody may bring: a picture or one sentence, in bounded memory."""

from __future__ import annotations

import io
import zipfile
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from libragrad.app import Limits
from libragrad.app.upload import received
from libragrad.errors import PictureError
from tests.app.visitor import mosaic_file
from tests.data.test_picture_file import claim

LIMITS = Limits()


def sent(raw, limits=LIMITS):
    return received("picture.png", b64encode(raw).decode(), limits)[0]


def saved(picture, kind, **options):
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def animated():
    frames = [Image.new("RGB", (8, 6), colour) for colour in ("red", "lime")]
    return saved(frames[0], "GIF", save_all=True, append_images=frames[1:])


def turned():
    tags = Image.Exif()
    tags[0x0112] = 6
    return saved(Image.new("RGB", (8, 6), "red"), "JPEG", exif=tags, quality=100)


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.png", mosaic_file(0))
    return file.getvalue()


TAKEN = {
    "16-bit": (saved(Image.new("I;16", (8, 6), 257 * 90), "PNG"), (8, 6), (90, 90, 90)),
    "CMYK": (saved(Image.new("CMYK", (8, 6), (0, 0, 0, 255)), "TIFF"), (8, 6), (0, 0, 0)),
    "palette": (saved(Image.new("P", (8, 6), 0), "PNG"), (8, 6), (0, 0, 0)),
    "transparent": (saved(Image.new("RGBA", (8, 6), 0), "PNG"), (8, 6), (255, 255, 255)),
    "animated": (animated(), (8, 6), (255, 0, 0)),
    "turned": (turned(), (6, 8), (254, 0, 0)),
    "wrong suffix": (saved(Image.new("RGB", (8, 6), "red"), "BMP"), (8, 6), (255, 0, 0)),
}


@pytest.mark.parametrize(("raw", "size", "colour"), TAKEN.values(), ids=TAKEN.keys())
def test_what_is_a_picture_is_taken(raw, size, colour):
    picture = sent(raw)
    assert (picture.mode, picture.size) == ("RGB", size)
    assert picture.getpixel((3, 3)) == colour


REFUSED = {
    "zero bytes": (b"", "is empty"),
    "zip": (zipped(), "is no picture that can be read here"),
    "HTML": (b"<svg onload=alert(1)>", "is no picture that can be read here"),
    "truncated": (mosaic_file(0)[:-100], "is a broken or truncated PNG file"),
    "huge": (claim(6_000, 6_000), "has 6000 × 6000 pixels, and at most 30,000,000 in all"),
    "bomb": (claim(60_000, 60_000), "is too large to be safe"),
    "thread": (
        claim(20_000, 10),
        "has 20000 × 10 pixels, and a side may be at most 100 times the other",
    ),
}


@pytest.mark.parametrize(("raw", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_none_is_refused_in_a_sentence(raw, reason):
    with pytest.raises(PictureError, match=f"^picture.png {reason}"):
        sent(raw)


def test_too_many_bytes_are_refused():
    with pytest.raises(PictureError, match=r"^picture.png has over 99 bytes: make it smaller"):
        sent(bytes(100), limits=Limits(picture_bytes=99))


WHOLE = {kind: mosaic_file(0, kind) for kind in ("JPEG", "PNG", "GIF", "WEBP", "TIFF")}


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([*WHOLE]),
    st.floats(0, 1),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=4),
)
def test_broken_bytes_give_a_picture_or_a_sentence(kind, share, changes):
    raw = bytearray(WHOLE[kind])
    for place, value in changes:
        raw[int(place * len(raw))] = value
    try:
        said = sent(bytes(raw[: int(share * len(raw))])).mode
    except PictureError as error:
        said = str(error)
    assert said == "RGB" or said.startswith("picture.png ")


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(), st.none(), st.integers()), st.one_of(st.text(), st.none(), st.floats()))
def test_anything_else_gives_a_sentence(name, data):
    with pytest.raises(PictureError):
        received(name, data, Limits())


def largest(mode, kind, **options):
    """A picture with as many pixels as may be; it packs to next to nothing."""
    size = (6_000, LIMITS.picture_pixels // 6_000)
    return saved(Image.new(mode, size), kind, **options)


@pytest.fixture
def gigabyte():
    """No more than a gigabyte may be had beside what is held already."""
    resource = pytest.importorskip("resource", reason="the limit is Unix's")
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("the kernel does not tell what is held")
    held = int(statm.read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + 1_000_000_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


LARGEST = {
    "transparent": largest("RGBA", "PNG", compress_level=1),
    "16-bit": largest("I;16", "PNG", compress_level=1),
    "float": largest("F", "TIFF", compression="tiff_adobe_deflate"),
}


@pytest.mark.parametrize("raw", LARGEST.values(), ids=LARGEST.keys())
def test_the_largest_pictures_are_opened_within_a_gigabyte(gigabyte, raw):
    assert sent(raw).size == (6_000, 5_000)
