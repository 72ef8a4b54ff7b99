"""The zoos by name."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

ZOOS = ("timm", "transformers", "torchvision", "open_clip")


def load(zoo: str) -> ModuleType:
    """Import the zoo `zoo`, on a machine where torchvision may lack its compiled operators.

    >>> load("pytorch_hub")
    Traceback (most recent call last):
    ...
    ValueError: no zoo 'pytorch_hub'; there are timm, transformers, torchvision, open_clip
    """
    if zoo not in ZOOS:
        raise ValueError(f"no zoo {zoo!r}; there are {', '.join(ZOOS)}")
    from libragrad.models.torchvision_cpu import declare_missing_operators

    declare_missing_operators()
    return import_module(f"conformance.{zoo}_zoo")
