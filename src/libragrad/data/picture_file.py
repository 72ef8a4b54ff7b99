"""Open a picture that somebody else made: upright, in RGB, and never more than memory can hold.

The command line, the page and the data sets all read pictures here, so that a broken one gives the
same sentence everywhere and none of them can be made to run code or to fill the memory.
"""

from __future__ import annotations

import io
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

import numpy as np

from libragrad.errors import PictureError

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("JPEG", "MPO", "PNG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "AVIF")
"""What is read. All are decoded in this process: formats that call other programs are left out."""

SUFFIXES = frozenset(
    ".jpg .jpeg .jpe .jfif .png .gif .webp .bmp .tif .tiff .ppm .pgm .pbm .pnm .avif".split()
)
"""The endings, in small letters, by which a listing knows a picture. The content decides later."""

MAX_PIXELS = 50_000_000
MAX_ASPECT = 100

_MAX_BYTES = 500_000_000
_ORIENTATION = 0x0112
_WITH_ALPHA = frozenset({"RGBA", "RGBa", "LA", "La", "PA"})


def open_picture(
    source: Path | bytes,
    name: str | None = None,
    *,
    upright: bool = True,
    max_pixels: int = MAX_PIXELS,
) -> Image:
    """The picture in a file, or in the bytes of one, as RGB with 8 bits a channel.

    * An animation gives its first frame.
    * `upright` turns the picture as its EXIF orientation says. Data sets whose masks and published
      numbers belong to the pixels as stored pass False.
    * 16-bit grey is divided by 257, what is transparent is laid on white, CMYK and palettes are
      converted.
    * Nothing is decoded before the header's size is known to be at most `max_pixels`, and no side
      may be over 100 times the other: resized by its short side, such a picture would explode.

    Anything else raises a `PictureError` that calls the picture by `name` or by its path.

    >>> open_picture(b"PK", "holiday.png")
    Traceback (most recent call last):
        ...
    libragrad.errors.PictureError: holiday.png is no picture that can be read here (JPEG, MPO, ...
    """
    called = name or (str(source) if isinstance(source, Path) else "the picture")
    raw = source if isinstance(source, bytes) else _contents(source, called)
    if not raw:
        raise PictureError(f"{called} is empty: it holds no bytes; get it again")
    opened = _header(raw, called)
    _check_size(*opened.size, called, max_pixels)
    try:
        opened.load()
        picture = to_rgb(opened, called)
        return _turned(picture, _orientation(opened)) if upright else picture
    except PictureError:
        raise
    except Exception as error:  # a decoder may raise anything on broken bytes
        raise PictureError(
            f"{called} is a broken or truncated {opened.format} file ({error}): get it again"
        ) from error


def to_rgb(picture: Image, called: str = "the picture") -> Image:
    """A picture of any mode as RGB with 8 bits a channel.

    >>> from PIL import Image
    >>> to_rgb(Image.new("LA", (1, 1), (0, 0))).getpixel((0, 0))  # transparent: the white below
    (255, 255, 255)
    >>> grey = Image.fromarray(np.full((1, 1), 257 * 100, np.uint16))
    >>> to_rgb(grey).getpixel((0, 0))
    (100, 100, 100)
    """
    from PIL import Image

    if picture.mode.startswith(("I", "F")):
        return Image.fromarray(_eight_bits(np.asarray(picture), called)).convert("RGB")
    if picture.mode in _WITH_ALPHA or "transparency" in picture.info:
        coloured = picture.convert("RGBA")
        paper = Image.new("RGBA", picture.size, "white")
        return Image.alpha_composite(paper, coloured).convert("RGB")
    return picture.convert("RGB")


def _contents(path: Path, called: str) -> bytes:
    try:
        status = path.stat()
        if not S_ISREG(status.st_mode):  # a device may have no end, and a pipe no beginning
            raise PictureError(f"{called} is no file: name the file of a picture")
        if status.st_size > _MAX_BYTES:
            raise PictureError(f"{called} has over {_MAX_BYTES:,} bytes: make it smaller")
        return path.read_bytes()
    except FileNotFoundError:
        raise PictureError(f"{called} does not exist: check the path") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise PictureError(f"{called} cannot be read ({reason}): check the file") from error


def _header(raw: bytes, called: str) -> Image:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise PictureError("pictures are read with Pillow: pip install pillow") from error

    Image.init()
    known = [kind for kind in FORMATS if kind in Image.OPEN]
    try:
        return Image.open(io.BytesIO(raw), formats=known)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureError(
            f"{called} is too large to be safe ({error}): make it smaller"
        ) from error
    except UnidentifiedImageError:
        raise PictureError(
            f"{called} is no picture that can be read here ({', '.join(FORMATS)}), "
            "whatever its name says: convert it to one of these"
        ) from None
    except Exception as error:  # a decoder may raise anything on broken bytes
        raise PictureError(f"{called} has a broken header ({error}): get it again") from error


def _check_size(width: int, height: int, called: str, max_pixels: int) -> None:
    if width * height > max_pixels:
        raise PictureError(
            f"{called} has {width} × {height} pixels, and at most {max_pixels:,} in all are read: "
            "make it smaller"
        )
    if max(width, height) > MAX_ASPECT * min(width, height):
        raise PictureError(
            f"{called} has {width} × {height} pixels, and a side may be at most {MAX_ASPECT} times "
            "the other: cut it"
        )


def _eight_bits(values: np.ndarray, called: str) -> np.ndarray:
    low, high = values.min(), values.max()
    if values.dtype.kind in "iu" and low >= 0 and high <= 0xFFFF:
        return ((values.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if values.dtype.kind == "f" and low >= 0 and high <= 1:
        return (values * 255 + 0.5).astype(np.uint8)
    raise PictureError(
        f"{called} holds numbers from {low} to {high}, and nothing says which of them is white: "
        "save it with 8 or 16 bits a channel"
    )


def _orientation(picture: Image) -> int:
    try:
        return int(picture.getexif().get(_ORIENTATION, 1))
    except Exception:  # an unreadable tag turns nothing
        return 1


def _turned(picture: Image, orientation: int) -> Image:
    from PIL.Image import Transpose

    turn = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }.get(orientation)
    return picture if turn is None else picture.transpose(turn)
