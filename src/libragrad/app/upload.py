"""Where a picture comes in: its bytes from the browser, or one of the package's examples.

There is no path and no address in what the browser sends, so none can be asked for.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from libragrad.app.limits import Limits
from libragrad.data.picture_file import open_picture
from libragrad.data.record import Record
from libragrad.errors import PictureError
from libragrad.picture.encode import data_address, png

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["file_name", "received", "zone"]

_NAME = 80


def received(name: object, data: object, limits: Limits) -> tuple[Image, str]:
    """The picture that a browser sent as base64, and a name for it.

    >>> received("../zebra.jpg", "UEs=", Limits())
    Traceback (most recent call last):
        ...
    libragrad.errors.PictureError: zebra.jpg is no picture that can be read here ...
    """
    called = file_name(name)
    if not isinstance(data, str) or len(data) > limits.body_bytes:
        raise PictureError(f"{called} has over {limits.picture_bytes:,} bytes: make it smaller")
    try:
        raw = b64decode(data, validate=True)
    except ValueError:
        raise PictureError(f"{called} did not arrive whole: send it again") from None
    if len(raw) > limits.picture_bytes:
        raise PictureError(f"{called} has over {limits.picture_bytes:,} bytes: make it smaller")
    return open_picture(raw, called, max_pixels=limits.picture_pixels), called


def file_name(given: object) -> str:
    r"""The last part of what a browser calls a file, without anything that is no letter.

    >>> file_name("C:\\photos\\ze\nbra.jpg"), file_name(None), file_name("/")
    ('zebra.jpg', 'picture', 'picture')
    """
    text = given if isinstance(given, str) else ""
    last = text.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(letter for letter in last if letter.isprintable()).strip()
    return shown[-_NAME:] or "picture"


def zone(limits: Limits, examples: Sequence[Record]) -> str:
    """The HTML: a button that takes files, and the examples below it."""
    buttons = "".join(
        f'<button type="button" data-example="{index}" title="{escape(record.id)}">'
        f'<img src="{data_address(png(np.array(record.picture())))}" alt="{escape(record.id)}">'
        "</button>"
        for index, record in enumerate(examples)
    )
    below = f"<p>or an example</p><div>{buttons}</div>" if buttons else ""
    return (
        f'<div class="zone" data-limit="{limits.picture_bytes}"><label>'
        '<input type="file" accept="image/*"><strong>Choose a picture</strong>'
        f"<span>or drop it here, or paste it</span></label>{below}</div>"
    )
