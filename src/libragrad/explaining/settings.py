"""The settings that make an explanation, and the versions it was made with."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from torch import nn

from libragrad.methods.method import Method, Profile
from libragrad.paths import Path
from libragrad.presets import ROWS, Preset
from libragrad.targets.kinds import Contrastive, Output


@dataclass(frozen=True)
class Settings:
    """All that decides what a map is, beside the model, the input and the target."""

    method: Method
    preset: Preset
    path: Path
    output: Output | Contrastive = Output.LOGIT
    profile: Profile = Profile.LIBRARY
    level: str | int = "tokens"
    seed: int = 0
    """Of methods that draw numbers."""

    @property
    def name(self) -> str:
        """The method as people read it: "Int. Libra FullGrad+"."""
        return self.method.name(self.preset, self.path.prefix)

    def manifest(self) -> dict[str, Any]:
        """Return the settings as plain data."""
        output = self.output
        return {
            "method": self.method.key,
            "preset": {"name": self.preset.name}
            | {row: getattr(self.preset, row).value for row in ROWS},
            "path": repr(self.path),
            "output": output.value if isinstance(output, Output) else repr(output),
            "profile": self.profile.value,
            "level": self.level,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Origin:
    """Which model, and which software."""

    model: str
    versions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, model: nn.Module) -> Origin:
        """Name the model as well as it names itself, and the versions that are installed."""
        return cls(_name(model), _versions(type(model).__module__.partition(".")[0]))


def _name(model: nn.Module) -> str:
    own = getattr(model, "pretrained_cfg", None) or {}
    if isinstance(own, dict) and own.get("architecture"):
        tag = own.get("tag")
        return f"{own['architecture']}.{tag}" if tag else str(own["architecture"])
    given = getattr(getattr(model, "config", None), "_name_or_path", "")
    return str(given or type(model).__qualname__)


def _versions(library: str) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("libragrad", "torch", "numpy", library):
        try:
            found[package] = version({"open_clip": "open_clip_torch"}.get(package, package))
        except PackageNotFoundError:
            continue
    return found
