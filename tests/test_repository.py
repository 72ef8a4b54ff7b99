"""The repository keeps its promises: one version, a documented surface, examples that run."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import libragrad

ROOT = Path(__file__).parents[1]


def public_members(name: str) -> list[str]:
    """`name` and, if it is a class of ours, its public methods and properties."""
    member = getattr(libragrad, name)
    if not inspect.isclass(member):
        return [name]
    return [name] + [
        f"{name}.{own}"
        for own, value in vars(member).items()
        if not own.startswith("_")
        and (isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value))
    ]


def test_there_is_one_version():
    stated = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert stated is not None
    assert cited is not None
    assert libragrad.__version__ == version("libragrad") == stated[1] == cited[1]


def test_the_surface_is_written_once():
    assert len(set(libragrad.__all__)) == len(libragrad.__all__)


@pytest.mark.parametrize("name", [n for n in libragrad.__all__ if not n.startswith("__")])
def test_the_surface_is_documented(name):
    for path in public_members(name):
        member = libragrad
        for part in path.split("."):
            member = getattr(member, part)
        assert inspect.getdoc(member), f"libragrad.{path} has no docstring: say what it is."


@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples").glob("*.py")))
def test_the_examples_run(example):
    run = subprocess.run(
        [sys.executable, ROOT / "examples" / example], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout


def test_the_package_says_that_it_is_typed():
    assert Path(libragrad.__file__).with_name("py.typed").exists()
