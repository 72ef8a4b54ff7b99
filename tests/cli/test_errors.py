"""Each error: its sentence, its exit code, and no traceback."""

from __future__ import annotations

import warnings

import pytest
import torch
import typer
from typer.testing import CliRunner

from libragrad.cli.group import Verbs
from libragrad.cli.maker import Maker
from libragrad.errors import InputError, LibraGradWarning
from tests.cli.running import MOSAIC, cli, pictures, words

PICTURE = ("explain", *MOSAIC, "builtin:mosaic-000")

USAGE = {
    "no picture": (("explain",), "Missing argument 'IMAGE'"),
    "an unknown verb": (("explane",), "No such command 'explane'"),
    "an unknown option": ((*PICTURE, "--metod", "x"), "No such option: --metod"),
    "an unknown choice": ((*PICTURE, "--recipe", "papr"), "'papr' is not one of 'paper', 'signed'"),
    "a batch of none": ((*PICTURE, "--batch-size", "0"), "should be greater than or equal to 1"),
    "targets and prompts": (
        (*PICTURE, "--target", "coat", "--prompt", "a coat"),
        "give targets, prompts or a contrast, not two of them",
    ),
    "plain beside plain": (
        (*PICTURE, "--compare", "--preset", "standard"),
        "Invalid value for --preset: --compare puts the plain one beside it",
    ),
    "deletion of pixels": (
        (*PICTURE, "--deletion", "--level", "pixels"),
        "Invalid value for --level: --deletion deletes tokens: leave it out",
    ),
    "an unknown suffix": (
        (*PICTURE, "--out", "x.gif"),
        "Invalid value for --out: x.gif should end in one of .png, .svg, .html, .npz",
    ),
    "many maps in one npz": (
        (*PICTURE, "--out", "x.npz", "--method", "genatt", "--method", "attcat"),
        "an .npz file holds one map: ask for one method and one target",
    ),
    "many pictures in one file": (
        (*PICTURE, "builtin:mosaic-001", "--out", "x.png"),
        "x.png is one file, and there are 2 pictures: name a folder",
    ),
    "data without a path": (
        ("evaluate", "quick", "--out", "x", "--data", "imagenet"),
        "Invalid value for --data: 'imagenet' is not of the form NAME=PATH",
    ),
    "no results folder": (("evaluate", "quick"), "Missing option '--out'"),
}

FAILURES = {
    "an unknown model": (
        ("explain", "-m", "builtin:mosaics", "x.png"),
        "error no model 'builtin:mosaics'; did you mean 'builtin:mosaic'?",
    ),
    "a source without a model": (
        ("explain", "-m", "hf:", "x.png"),
        "error 'hf:' names no model: write one after the colon",
    ),
    "a picture that is not there": (
        ("explain", *MOSAIC, "nowhere.png"),
        "skipped nowhere.png does not exist: check the path 0 of 1 pictures explained, 1 skipped",
    ),
    "a glob without matches": (
        ("explain", *MOSAIC, "nowhere/*.png"),
        "error no file matches 'nowhere/*.png': check the pattern",
    ),
    "an unknown built-in picture": (
        ("explain", *MOSAIC, "builtin:zebra"),
        "error no built-in picture 'builtin:zebra'; there are builtin:mosaic-000 to",
    ),
    "an unknown label": (
        (*PICTURE, "-t", "sandals"),
        "error no class is named 'sandals'; the nearest are 'sandal' (5)",
    ),
    "an index too large": ((*PICTURE, "-t", "10"), "error target 10 is out of range"),
    "an index beyond all numbers": ((*PICTURE, "-t", "9" * 30), f"error target {'9' * 30} is out"),
    "an unknown method": (
        (*PICTURE, "--method", "fulgrad"),
        "error there is no method 'fulgrad'; did you mean 'fullgrad'",
    ),
    "an unknown preset": (
        (*PICTURE, "--preset", "libre"),
        "error no preset 'libre'; did you mean 'libra'?",
    ),
    "an unknown device": (
        (*PICTURE, "--device", "tpu9"),
        "error no device 'tpu9' here; there are auto, cpu",
    ),
    "an unknown level": (
        (*PICTURE, "--level", "7"),
        "error level=7 is not known: it can be 'tokens', 'pixels' or the number of a block, 0 to 4",
    ),
    "a prompt for a model without text": (
        (*PICTURE, "--prompt", "a coat"),
        "error MosaicViT takes no prompts",
    ),
    "weights that are not there": (
        (*PICTURE, "--weights", "nowhere.pt"),
        "error the weights nowhere.pt do not exist: check the path",
    ),
    "a folder that cannot be made": (
        (*PICTURE, "--out", "/dev/null/x/"),
        "error cannot make the folder '/dev/null/x': not a directory",
    ),
    "an unknown recipe": (
        ("evaluate", "quik", "--out", "x"),
        "error no recipe 'quik'; did you mean 'quick'?",
    ),
    "a table of nothing": (
        ("table", "nowhere"),
        "error nowhere holds no results: run an evaluation into it first",
    ),
    "a plot of nothing": (
        ("plot", "nowhere", "--out", "x.svg"),
        "error nowhere holds no results: run an evaluation into it first",
    ),
    "no model of that pattern": (("models", "builtin:x"), "no model matches 'builtin:x'"),
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_exits_2(case):
    arguments, sentence = USAGE[case]
    result = cli(*arguments)
    assert sentence in words(result.stderr)
    assert result.exit_code == 2
    assert result.stdout == ""


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_exits_1_with_one_sentence(case):
    arguments, sentence = FAILURES[case]
    result = cli(*arguments)
    assert words(result.stderr).startswith(sentence)
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr


def test_a_folder_without_pictures(tmp_path):
    result = cli("explain", *MOSAIC, tmp_path)
    assert result.exit_code == 1
    assert words(result.stderr).startswith(f"error the folder {tmp_path} holds no pictures (.avif")


def test_a_link_that_leads_to_itself_is_skipped(tmp_path):
    loop = tmp_path / "loop.png"
    loop.symlink_to(loop)
    result = cli("explain", *MOSAIC, loop, "--out", tmp_path / "out.png")
    assert result.exit_code == 1
    assert words(result.stderr).startswith(f"skipped {loop} cannot be read (")


def test_a_picture_is_never_written_over(tmp_path):
    (one,) = pictures(tmp_path / "in", 1)
    before = one.read_bytes()
    for out in (one, tmp_path / "in", tmp_path / "in" / ".." / "in"):
        result = cli("explain", *MOSAIC, one, "--out", out)
        assert result.exit_code == 2
        assert "is one of the pictures, and would be lost: name another" in words(result.stderr)
    assert one.read_bytes() == before


def test_too_little_memory_is_a_sentence(monkeypatch):
    def make(self, opened):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(Maker, "make", make)
    result = cli(*PICTURE, "--device", "cpu")
    assert result.exit_code == 1
    assert words(result.stderr) == (
        "error cpu has too little memory for this: take a smaller --batch-size"
    )


def test_debug_lets_the_error_through_wherever_it_stands():
    for arguments in (
        ("--debug", "explain", "x", "--preset", "y"),
        ("explain", "x", "--preset", "y", "--debug"),
    ):
        assert isinstance(cli(*arguments).exception, InputError)


def run(verb):
    """The result of a verb that does this."""
    application = typer.Typer(cls=Verbs)
    application.command("verb")(verb)

    @application.callback()
    def options(debug: bool = False) -> None:
        """All of it."""

    return CliRunner().invoke(application, ["verb"])


def test_an_error_of_the_system_names_its_file(tmp_path):
    result = run(lambda: (tmp_path / "x").read_bytes() and None)
    assert words(result.stderr) == f"error {tmp_path / 'x'}: no such file or directory"
    assert result.exit_code == 1


def test_brackets_in_a_sentence_are_no_markup():
    def verb() -> None:
        raise InputError("shape [red] is wrong")

    assert words(run(verb).stderr) == "error shape [red] is wrong"


def test_ctrl_c_exits_130():
    def verb() -> None:
        raise KeyboardInterrupt

    result = run(verb)
    assert result.exit_code == 130
    assert result.stderr == "stopped\n"


def test_a_mistake_of_our_own_is_not_hidden():
    result = run(lambda: 1 / 0)
    assert isinstance(result.exception, ZeroDivisionError)


def test_a_warning_is_one_line_beside_the_answer():
    def verb() -> None:
        warnings.simplefilter("always")
        warnings.warn("no rule for frobnicate", LibraGradWarning, stacklevel=1)
        typer.echo("answer")

    result = run(verb)
    assert result.stdout == "answer\n"
    assert result.stderr == "warning no rule for frobnicate\n"
    assert warnings.showwarning.__module__ != "libragrad.cli.group"


def test_a_failing_disk_stops_the_run_with_a_sentence(tmp_path):
    pictures(tmp_path / "in")
    (tmp_path / "out" / "mosaic-1.png").mkdir(parents=True)
    result = cli("explain", *MOSAIC, tmp_path / "in", "--out", tmp_path / "out", "-t", "0")
    assert result.exit_code == 1
    assert "cannot save" in words(result.stderr)
    assert (tmp_path / "out" / "mosaic-0.png").is_file()
