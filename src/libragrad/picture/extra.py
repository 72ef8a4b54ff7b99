"""Matplotlib and Pillow are needed for pictures alone, so they are imported where they are used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from libragrad.errors import MissingExtraError

__all__ = ["pictures_extra"]

_PACKAGES = {"matplotlib": "matplotlib", "PIL": "pillow"}


@contextmanager
def pictures_extra() -> Iterator[None]:
    """Around the import of a drawing package: if it is absent, say which command installs it.

    >>> with pictures_extra():
    ...     raise ModuleNotFoundError("No module named 'PIL'", name="PIL")
    Traceback (most recent call last):
        ...
    libragrad.errors.MissingExtraError: pictures need the package pillow, which is not installed;
    run: pip install 'libragrad[pictures]'
    """
    try:
        yield
    except ModuleNotFoundError as absent:
        package = _PACKAGES.get((absent.name or "").split(".")[0])
        if package is None:
            raise
        raise MissingExtraError(
            f"pictures need the package {package}, which is not installed; "
            "run: pip install 'libragrad[pictures]'"
        ) from absent
