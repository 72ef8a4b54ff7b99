"""What the evaluation needs beside PyTorch is installed with extras; say which where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from libragrad.errors import MissingExtraError

__all__ = ["needs"]


@contextmanager
def needs(extra: str, purpose: str) -> Iterator[None]:
    """Around the import of an optional package: if it is absent, say how to get it.

    >>> with needs("ray", "a run on Ray"):
    ...     raise ModuleNotFoundError("No module named 'ray'", name="ray")
    Traceback (most recent call last):
        ...
    libragrad.errors.MissingExtraError: a run on Ray needs the package ray, which is not installed;
    run: pip install 'libragrad[ray]'
    """
    try:
        yield
    except ModuleNotFoundError as absent:
        if absent.name is None or absent.name.startswith("libragrad"):
            raise
        raise MissingExtraError(
            f"{purpose} needs the package {absent.name.partition('.')[0]}, which is not installed; "
            f"run: pip install 'libragrad[{extra}]'"
        ) from absent
