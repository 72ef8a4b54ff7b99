"""What `libragrad doctor` finds out."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["EXTRAS", "Extra", "checkup"]


class Extra(NamedTuple):
    """Packages that are installed for one purpose."""

    purpose: str
    packages: tuple[str, ...]


EXTRAS: Mapping[str, Extra] = MappingProxyType(
    {
        "models": Extra(
            "models by their names",
            ("timm", "open_clip_torch", "transformers", "torchvision", "safetensors"),
        ),
        "pictures": Extra("pictures of explanations", ("matplotlib", "pillow")),
        "cli": Extra("this command line", ("typer", "rich")),
        "evaluation": Extra(
            "evaluations and their tables",
            ("duckdb", "pyarrow", "pillow", "pycocotools", "scipy", "rich"),
        ),
        "app": Extra("the page in the browser", ("gradio",)),
        "ray": Extra("evaluations on many machines", ("ray",)),
    }
)
"""The extras that people install, with the packages that `pyproject.toml` gives them."""


def checkup() -> dict[str, Any]:
    """Versions, devices, extras, torchvision's state, and what is wrong with the core, if anything.

    >>> checkup()["core"] is None
    True
    """
    packages = dict.fromkeys(name for extra in EXTRAS.values() for name in extra.packages)
    versions = {"python": platform.python_version()}
    for package in ("libragrad", "torch", "numpy", *packages):
        found = _version(package)
        if found is not None:
            versions[package] = found
    core = _core()
    return {
        "versions": versions,
        "devices": [] if core is not None else _devices(),
        "extras": [_extra(name, extra) for name, extra in EXTRAS.items()],
        "torchvision": "not looked at" if core is not None else _torchvision(),
        "core": core,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _extra(name: str, extra: Extra) -> dict[str, Any]:
    return {
        "name": name,
        "purpose": extra.purpose,
        "missing": [package for package in extra.packages if _version(package) is None],
        "command": f"pip install 'libragrad[{name}]'",
    }


def _core() -> str | None:
    """What is wrong with PyTorch or with the account of a small network; none if nothing is."""
    try:
        import torch

        import libragrad

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model = torch.nn.Sequential(
                torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Linear(8, 2)
            ).double()
            account = libragrad.audit(model, torch.randn(1, 8, dtype=torch.double), 0)
    except Exception as error:  # whatever is wrong with the installation is what is asked for
        return f"{type(error).__name__}: {error}"
    if account.relative_error > 1e-9:
        return (
            f"the account of a small network is off by {account.relative_error:.1e} of its output"
        )
    return None


def _devices() -> list[str]:
    import torch

    found = [f"cpu: {os.cpu_count()} cores, PyTorch uses {torch.get_num_threads()}"]
    found += [
        f"cuda:{index}: {torch.cuda.get_device_name(index)}"
        for index in range(torch.cuda.device_count())
    ]
    if torch.backends.mps.is_available():
        found.append("mps: Apple's GPU")
    return found


def _torchvision() -> str:
    """Whether torchvision's own compiled library loads beside this PyTorch."""
    if _version("torchvision") is None:
        return "not installed"
    from libragrad.models.torchvision_cpu import declare_missing_operators

    if declare_missing_operators() is None:
        return "its compiled library loads"
    return (
        "its compiled library does not load beside this PyTorch; libragrad declares what an import "
        "needs, and classifiers need no more"
    )
