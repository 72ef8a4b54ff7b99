"""What the help lists without importing PyTorch is what the library's tables hold."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from libragrad.cli.checkup import EXTRAS
from libragrad.cli.choices import find_path
from libragrad.cli.explain import explain
from libragrad.cli.options import DEFAULT_MODEL
from libragrad.cli.plot import plot
from libragrad.cli.table import table
from libragrad.evaluation.formats import FORMATS
from libragrad.evaluation.names import PATHS
from libragrad.methods.method import Profile
from libragrad.metrics import METRICS
from libragrad.models.loading import DEFAULT
from libragrad.picture import RECIPES
from libragrad.targets import Output

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


def choices(verb: Callable[..., None], option: str) -> set[str]:
    """What an option of a verb may be."""
    return set(get_args(get_type_hints(verb)[option]))


def test_the_default_model():
    assert DEFAULT_MODEL == DEFAULT


def test_the_choices_of_explain():
    assert choices(explain, "recipe") == set(RECIPES)
    assert choices(explain, "profile") == {profile.value for profile in Profile}
    assert choices(explain, "output") == {output.value for output in Output}
    assert choices(explain, "path") == set(PATHS)


@pytest.mark.parametrize("name", PATHS)
def test_a_path_is_the_evaluations(name):
    assert find_path(name, None) == PATHS[name]


def test_the_choices_of_table_and_plot():
    assert choices(table, "style") == set(FORMATS)
    curves = {name for name, metric in METRICS.items() if metric.takes in (("most",), ("least",))}
    assert choices(plot, "metric") == curves


def test_the_extras():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, extra in EXTRAS.items():
        requirements = listed["optional-dependencies"][name]
        needed = [line for line in requirements if "libragrad[" not in line and ";" not in line]
        packages = {re.split(r"[^\w.-]", line)[0] for line in needed}
        assert packages == set(extra.packages), name
