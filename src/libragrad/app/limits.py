"""How much a visitor may ask for, and a server that reads no more than that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from libragrad.errors import InputError

__all__ = ["Limits", "SmallBodies"]


@dataclass(frozen=True)
class Limits:
    """The limits of the page.

    >>> Limits(maps=4).check(methods=["fullgrad+", "genatt"], targets=[1, 2, 3])
    Traceback (most recent call last):
        ...
    libragrad.errors.InputError: 2 methods × 3 targets are 6 maps, and at most 4 are made at a time:
    choose fewer
    """

    picture_bytes: int = 20_000_000
    picture_pixels: int = 30_000_000
    maps: int = 12
    """Methods × targets."""
    prompt_letters: int = 300
    waiting: int = 16
    """How many requests may stand in the queue."""
    visitors: int = 100
    """How many people's last results are kept."""

    @property
    def body_bytes(self) -> int:
        """The largest request: a picture in base64, and room for the rest."""
        return self.picture_bytes * 4 // 3 + 1_000_000

    def check(self, methods: Sequence[object], targets: Sequence[object]) -> None:
        """Refuse what would take too long, or nothing at all."""
        if not methods:
            raise InputError("no method is chosen: choose at least one")
        if not targets:
            raise InputError("no class is chosen: choose at least one")
        if len(methods) * len(targets) > self.maps:
            raise InputError(
                f"{len(methods)} methods × {len(targets)} targets are "
                f"{len(methods) * len(targets)} maps, and at most {self.maps} are made at a time: "
                "choose fewer"
            )


class SmallBodies:
    """Refuses a request by the length that it declares, before any of it is read."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        """Stand before `app`; `most` is in bytes."""
        self.app = app
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = dict(scope["headers"])
        if b"transfer-encoding" in headers:
            return PlainTextResponse("a request must say its length", 411)
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.most:
            return PlainTextResponse(f"a request may have {self.most:,} bytes", 413)
        return None
