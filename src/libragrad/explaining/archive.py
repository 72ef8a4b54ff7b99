"""An explanation in one file: its numbers and a manifest of what made them (.npz)."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from libragrad.errors import InputError
from libragrad.explaining.settings import Origin
from libragrad.geometry.layout import Layout

_NUMBERS = ("map", "tokens", "unattributed", "output", "completeness_error")
_PERHAPS = ("target", "pictures")
_FORMAT = 1


@dataclass(frozen=True)
class Saved:
    """An explanation that was read from a file: the same numbers, and the manifest beside them.

    It has all that pictures and metrics ask for; the settings are plain data.
    """

    map: Tensor
    tokens: Tensor
    unattributed: Tensor
    output: Tensor
    completeness_error: Tensor
    labels: tuple[str, ...]
    name: str
    layout: Layout
    origin: Origin
    settings: dict[str, Any]
    target: Tensor | None = None
    pictures: Tensor | None = None


def contents(explanation: Any) -> bytes:
    """Return the file's content."""
    arrays = {name: _array(getattr(explanation, name)) for name in _NUMBERS}
    for name in _PERHAPS:
        value = getattr(explanation, name)
        if value is not None:
            arrays[name] = _array(value)
    layout, origin = explanation.layout, explanation.origin
    settings = explanation.settings
    manifest = {
        "format": _FORMAT,
        "name": explanation.name,
        "labels": explanation.labels,
        "model": origin.model,
        "versions": origin.versions,
        "settings": settings if isinstance(settings, dict) else settings.manifest(),
        "layout": asdict(layout),
    }
    arrays["manifest"] = np.array(json.dumps(manifest, ensure_ascii=False))
    file = BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def load(path: str | Path) -> Saved:
    """Read an explanation from the file that `Explanation.save("x.npz")` wrote."""
    if not Path(path).is_file():
        raise InputError(f"there is no file '{path}'")
    if not zipfile.is_zipfile(path):
        raise InputError(f"{_foreign(path)}: it is no .npz file")
    try:
        with np.load(path, allow_pickle=False) as file:
            manifest = json.loads(str(file["manifest"]))
            tensors = {name: torch.from_numpy(file[name]) for name in file if name != "manifest"}
        if manifest["format"] != _FORMAT:
            raise InputError(f"'{path}' has the format {manifest['format']}, and this is {_FORMAT}")
        given = manifest["layout"]
        order = None if given["order"] is None else tuple(given["order"])
        layout = Layout(
            tuple(given["grid"]), given["prefix"], given["channel"], given["batch"], order
        )
        return Saved(
            **tensors,
            labels=tuple(manifest["labels"]),
            name=manifest["name"],
            layout=layout,
            origin=Origin(manifest["model"], manifest["versions"]),
            settings=manifest["settings"],
        )
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{_foreign(path)}: it has no manifest that can be read") from error


def _foreign(path: str | Path) -> str:
    return f"'{path}' is not an explanation that libragrad saved"


def _array(x: Tensor) -> np.ndarray[Any, Any]:
    return x.detach().cpu().numpy()
