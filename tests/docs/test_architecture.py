"""ARCHITECTURE.md is true: it names every part of the package, in an order that imports keep."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "libragrad"
BESIDE = {"__init__", "__main__"}


def parts() -> list[str]:
    """The parts of the package in the order of the table."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("## The map")[1].split("Outside the package")[0]
    return re.findall(r"^\| `(\w+)(?:/|\.py)` \|", table, re.MULTILINE)


def test_every_part_of_the_package_is_on_the_map_once():
    files = {path.stem for path in PACKAGE.glob("*.py")} - BESIDE
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert len(parts()) == len(set(parts()))
    assert set(parts()) == files | folders


def test_imports_go_up_the_map():
    height = {part: place for place, part in enumerate(parts())}
    for file in PACKAGE.rglob("*.py"):
        own = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if own in BESIDE:
            continue
        text = file.read_text(encoding="utf-8")
        for other in re.findall(r"^(?:from|import) libragrad\.(\w+)", text, re.MULTILINE):
            assert height[other] <= height[own], f"{file.name} of {own} imports from {other}"
