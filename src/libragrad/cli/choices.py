"""From the names that were typed to the things that they mean."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from libragrad.errors import InputError
from libragrad.paths import Integrated, Path, Point, Smooth
from libragrad.picture.choice import choose
from libragrad.presets import ABLATIONS, PRESETS, Preset

__all__ = ["find_device", "find_path", "find_preset", "index_or_label", "level_of"]


def find_preset(name: str) -> Preset:
    """A preset or an ablation, in any case.

    >>> find_preset("libra").name, find_preset("no attention").name
    ('Libra', 'Libra without attention')
    >>> find_preset("libre")
    Traceback (most recent call last):
        ...
    libragrad.errors.InputError: no preset 'libre'; did you mean 'libra'?
    """
    table = {key.lower(): preset for key, preset in {**PRESETS, **ABLATIONS}.items()}
    return choose("preset", name.lower(), table)


def find_path(name: str, steps: int | None) -> Path:
    """The path of that name, with so many steps, or as many as it takes by itself.

    >>> find_path("integrated", 20)
    Integrated(steps=20, baseline=None, paper=False, prefix='Int. ')
    """
    if name == "point":
        return Point()
    if name == "integrated":
        return Integrated() if steps is None else Integrated(steps)
    return Smooth() if steps is None else Smooth(steps)


def find_device(name: str) -> torch.device:
    """The device of that name, if a tensor can be put there.

    >>> find_device("tpu9000")
    Traceback (most recent call last):
        ...
    libragrad.errors.InputError: no device 'tpu9000' here; there are auto, cpu...
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(f"no device {name!r} here; there are {', '.join(devices())}") from error
    return device


def devices() -> Sequence[str]:
    """The devices of this machine."""
    cuda = [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    mps = ["mps"] if torch.backends.mps.is_available() else []
    return ["auto", "cpu", *cuda, *mps]


def index_or_label(text: str) -> int | str:
    """A class index if it is a whole number, else a label.

    >>> index_or_label("340"), index_or_label("zebra")
    (340, 'zebra')
    """
    return int(text) if text.isascii() and text.removeprefix("-").isdigit() else text


def level_of(text: str) -> int | str:
    """The number of a block, or "tokens" or "pixels".

    >>> level_of("-1"), level_of("pixels")
    (-1, 'pixels')
    """
    return index_or_label(text)
