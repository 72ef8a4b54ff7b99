"""Help: for every verb, with examples that are right, and without PyTorch."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer.main

from libragrad.cli.application import application
from tests.cli.running import cli, done

GROUP: Any = typer.main.get_command(application)
VERBS = ("explain", "audit", "evaluate", "table", "plot", "methods", "models", "app", "doctor")


def examples(verb: str) -> list[str]:
    lines = (line.strip() for line in (GROUP.commands[verb].help or "").splitlines())
    return [line for line in lines if line.startswith("libragrad ")]


def test_the_verbs_are_these():
    assert tuple(GROUP.commands) == VERBS
    text = done("--help")
    assert all(f"│ {verb} " in text for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verbs_help_has_examples(verb):
    text = done(verb, "--help")
    assert "Examples" in text
    assert f"libragrad {verb}" in text
    assert text == done(verb, "-h")


@pytest.mark.parametrize("example", [line for verb in VERBS for line in examples(verb)])
def test_an_example_is_right_usage_and_fits_the_line(example):
    assert len(example) <= 74
    _, verb, *arguments = shlex.split(example)
    GROUP.commands[verb].make_context(verb, arguments)


def test_help_does_not_import_pytorch():
    code = f"""
import sys
from typer.testing import CliRunner
from libragrad.cli.application import application
for verb in {VERBS}:
    assert CliRunner().invoke(application, [verb, "--help"]).exit_code == 0, verb
assert CliRunner().invoke(application, ["--help"]).exit_code == 0
heavy = {{"torch", "numpy", "PIL", "matplotlib", "timm", "libragrad.surface"}}
print(sorted(heavy & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_the_module_is_the_command_too():
    run = subprocess.run(
        [sys.executable, "-m", "libragrad", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout == f"libragrad {version('libragrad')}\n"


def test_a_terminal_without_unicode_gets_question_marks():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(
        [sys.executable, "-m", "libragrad", "evaluate", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert "Measure the cells of a recipe: models ? data sets ? methods ? metrics." in run.stdout


def test_the_console_script_is_that_command():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.scripts]\nlibragrad = "libragrad.cli:main"\n' in text


def test_without_arguments_there_is_help_and_exit_code_2():
    result = cli()
    assert result.exit_code == 2
    assert "Usage: libragrad" in result.stdout + result.stderr


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_its_extra_one_sentence_says_how_to_get_it(package):
    code = f"import sys; sys.modules[{package!r}] = None; from libragrad.cli import main; main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr == (
        f"error: the command line needs the package {package}, which is not installed; "
        "run: pip install 'libragrad[cli]'\n"
    )
