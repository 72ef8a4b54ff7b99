"""Say at once, and in one sentence, that there is no network.

The hub's client tries a lost connection again and again, for a minute and with a page of
warnings. Here the host is looked up first; where that fails, the client is told to use what it has
on disk, and if that does not do, one sentence says so.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import getproxies

from libragrad.errors import LibraGradError


@contextmanager
def online(what: str, instead: str, error: type[LibraGradError] = LibraGradError) -> Iterator[None]:
    """Within it, `what` may be fetched; without network, `error` says so and what to do `instead`.

    What the hub's client has on disk is found without network too.

    >>> with online("the weights", "give a file"):
    ...     raise URLError("Name or service not known")
    Traceback (most recent call last):
        ...
    libragrad.errors.LibraGradError: the weights are not on this machine, and the network ...
    """
    try:
        with _hub_offline(not has_network()):
            yield
    except Exception as raised:
        if not unreachable(raised):
            raise
        raise error(
            f"{what} are not on this machine, and the network cannot be reached: {instead}"
        ) from raised


def has_network(host: str | None = None) -> bool:
    """Whether `host`, or the hub, has an address (behind a proxy, which looks it up, always)."""
    if getproxies().get("https"):
        return True
    try:
        socket.getaddrinfo(host or _hub_host(), 443)
    except OSError:
        return False
    return True


def unreachable(error: BaseException) -> bool:
    """Whether an error, or one of those that led to it, is a connection that failed."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, HTTPError):
            return False  # somebody answered
        if isinstance(seen, (URLError, ConnectionError, TimeoutError, socket.gaierror)):
            return True
        if type(seen).__name__ in _NAMES:
            return True
        seen = seen.__cause__ or seen.__context__
    return False


# The clients' own errors, by name: their packages change, and need not be installed.
_NAMES = frozenset(
    "LocalEntryNotFoundError OfflineModeIsEnabled ConnectError ConnectTimeout ReadTimeout".split()
)


def _hub_host() -> str:
    try:
        from huggingface_hub import constants
    except ImportError:
        return "huggingface.co"
    return urlsplit(constants.ENDPOINT).hostname or "huggingface.co"


@contextmanager
def _hub_offline(offline: bool) -> Iterator[None]:
    if not offline:
        yield
        return
    try:
        from huggingface_hub import constants
    except ImportError:
        yield
        return
    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
