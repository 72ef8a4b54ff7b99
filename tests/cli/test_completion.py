"""The shell completes verbs, options and names; a bar tells how far a run is."""

from __future__ import annotations

from functools import partial
from io import StringIO

import pytest
import rich.console
from typer.testing import CliRunner

from libragrad.cli.application import application
from libragrad.cli.progress import bar
from libragrad.evaluation import recipe_names
from libragrad.methods.table import METHODS


def completions(*typed: str) -> list[str]:
    """What bash is offered for the last of the words."""
    environment = {
        "_LIBRAGRAD_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["libragrad", *typed]),
        "COMP_CWORD": str(len(typed)),
    }
    result = CliRunner().invoke(application, [], env=environment, prog_name="libragrad")
    assert result.exit_code == 0
    return str(result.stdout).split()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (("ex",), ["explain"]),
        (("explain", "--reci"), ["--recipe"]),
        (("explain", "--method", "full"), [key for key in METHODS if key.startswith("full")]),
        (("explain", "--preset", "a"), ["alilrp", "attnlrp"]),
        (("explain", "--model", "built"), ["builtin:mosaic"]),
        (("evaluate", "quick"), [name for name in recipe_names() if name.startswith("quick")]),
    ],
)
def test_the_shell_is_offered(typed, offered):
    assert sorted(completions(*typed)) == sorted(offered)


def shown(total: int, terminal: bool, monkeypatch) -> str:
    """What a bar writes while so many are done."""
    file = StringIO()
    console = partial(rich.console.Console, file=file, force_terminal=terminal, width=80)
    monkeypatch.setattr(rich.console, "Console", lambda stderr: console())
    with bar("explaining", total) as advance:
        for _ in range(total):
            advance()
    return file.getvalue()


def test_a_bar_counts_and_says_what_is_left(monkeypatch):
    text = shown(3, True, monkeypatch)
    assert "explaining" in text
    assert "3/3" in text
    assert "left" in text


@pytest.mark.parametrize(("total", "terminal"), [(3, False), (1, True)])
def test_there_is_no_bar_for_files_and_for_one_picture(total, terminal, monkeypatch):
    assert shown(total, terminal, monkeypatch) == ""
