"""Small pictures with known colours, for the tests' own data sets."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

RED, BLUE = (200, 30, 30), (30, 30, 200)


def encoded(colour=RED, size=(8, 6), kind="PNG", **options) -> bytes:
    """The bytes of a picture of one colour."""
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, kind, **options)
    return buffer.getvalue()


def put(path: Path, content: bytes | np.ndarray | None = None) -> Path:
    """Write bytes, or a mask's numbers as PNG, and make the folders on the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, np.ndarray):
        Image.fromarray(content).save(path)
    else:
        kind = "JPEG" if path.suffix.lower() in {".jpg", ".jpeg"} else "PNG"
        path.write_bytes(encoded(kind=kind) if content is None else content)
    return path


def ids(dataset) -> list[str]:
    return [record.id for record in dataset]


def labels(dataset) -> list[tuple[int, ...]]:
    return [record.labels for record in dataset]
