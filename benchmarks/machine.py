"""The machine in a few words: what it is, never its name."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

_PACKAGES = (
    "torch",
    "timm",
    "transformers",
    "torchvision",
    "captum",
    "grad-cam",
    "zennit",
    "lxt",
)


def processor() -> str:
    """Name the processor, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def description() -> list[str]:
    """Describe the machine and the versions, a line each."""
    threads = torch.get_num_threads()
    return [
        f"{processor()}, {os.cpu_count()} cores, {threads} PyTorch threads",
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        ", ".join(f"{package} {_version(package)}" for package in _PACKAGES),
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
