"""Runs the command line for the tests, in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PIL import Image
from typer.testing import CliRunner

from libragrad.cli.application import application
from libragrad.models.mosaic import mosaic_images

MOSAIC = ("--model", "builtin:mosaic")


def cli(*arguments: object):
    """The result of `libragrad …`: exit_code, stdout, stderr."""
    return CliRunner().invoke(application, [str(one) for one in arguments], prog_name="libragrad")


def done(*arguments: object) -> str:
    """What a run that must not fail answers."""
    result = cli(*arguments)
    assert result.exit_code == 0, result.stderr or repr(result.exception)
    return str(result.stdout)


def answer(*arguments: object) -> Any:
    """The JSON of a run that must not fail; anything beside it would not parse."""
    return json.loads(done(*arguments, "--json"))


def words(text: str) -> str:
    """A text without the line breaks and frames that a narrow terminal puts into it."""
    return " ".join(word for word in text.split() if word not in "│╭╮╰╯─")


def pictures(folder: Path, count: int = 2) -> list[Path]:
    """Mosaics as files."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"mosaic-{index}.png" for index in range(count)]
    for path, pixels in zip(paths, mosaic_images().images, strict=False):
        Image.fromarray(pixels).save(path)
    return paths
