"""The commands and recipes of the documents are such as the library takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from libragrad.cli.application import application
from libragrad.evaluation import KNOWN, load_recipe

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands() -> list[str]:
    """Every line of a page's shell examples that calls `libragrad`."""
    lines = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        shown = re.findall(r"^(?:\w*\$ |    )(libragrad .*)$", text, re.MULTILINE)
        lines += [part.strip() for line in shown for part in line.split("&&")]
    return list(dict.fromkeys(lines))


def recipes() -> list[str]:
    """Every TOML example."""
    texts = (page.read_text(encoding="utf-8") for page in PAGES)
    return [
        found for text in texts for found in re.findall(r"^```toml\n(.*?)^```$", text, re.M | re.S)
    ]


@pytest.mark.parametrize("line", commands())
def test_a_command_is_understood(line):
    verb, *arguments = shlex.split(line)[1:]
    group = get_command(application)
    assert isinstance(group, TyperGroup)
    command = group.commands[verb]
    command.make_context(verb, arguments).close()


def test_commands_and_recipes_are_found():
    assert len(commands()) > 10
    assert recipes()


@pytest.mark.parametrize("text", recipes())
def test_a_recipe_is_understood(text, tmp_path):
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    assert load_recipe(str(tmp_path / "mine.toml"), KNOWN).cells
