"""What is seen, as files. They go to the browser as bytes, and none is written here."""

from __future__ import annotations

import json
import zipfile
from base64 import b64encode
from collections.abc import Callable, Mapping
from io import BytesIO
from types import MappingProxyType
from typing import NamedTuple

from libragrad.app.comparison import drawn, explanations
from libragrad.app.session import Session
from libragrad.errors import InputError
from libragrad.explaining.archive import contents
from libragrad.picture import Look, Sheet, figure_file, page

__all__ = ["FILES", "Parcel", "parcel"]


class Parcel(NamedTuple):
    """A file on its way to the browser."""

    name: str
    kind: str
    content: bytes

    def packed(self) -> str:
        """As JSON, for `downloads.js`.

        >>> Parcel("a.txt", "text/plain", b"b").packed()
        '{"name": "a.txt", "kind": "text/plain", "content": "Yg=="}'
        """
        parts = {**self._asdict(), "content": b64encode(self.content).decode()}
        return json.dumps(parts)


def _png(session: Session, look: Look, scale: str) -> Parcel:
    return Parcel("maps.png", "image/png", figure_file(_sheet(session, scale), look))


def _html(session: Session, look: Look, scale: str) -> Parcel:
    return Parcel("maps.html", "text/html", page(_sheet(session, scale), look).encode())


def _npz(session: Session, look: Look, scale: str) -> Parcel:
    """One file an explanation; several of them in an archive."""
    files = {f"{one.name}.npz": contents(one) for one in explanations(session.comparisons)}
    if len(files) == 1:
        name, content = next(iter(files.items()))
        return Parcel(name, "application/octet-stream", content)
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return Parcel("maps.npz.zip", "application/zip", packed.getvalue())


def _sheet(session: Session, scale: str) -> Sheet:
    of = session.question.output if session.question else "logit"
    return drawn(session.comparisons, scale, of)


FILES: Mapping[str, Callable[[Session, Look, str], Parcel]] = MappingProxyType(
    {"PNG": _png, "HTML": _html, "NPZ": _npz}
)
"""What can be downloaded. Read-only."""


def parcel(kind: str, session: Session | None, look: Look, scale: str) -> Parcel:
    """The file of that kind."""
    if session is None or not session.comparisons:
        raise InputError("there is nothing to download yet: choose a picture")
    return FILES[kind](session, look, scale)
