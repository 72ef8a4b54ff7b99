"""`evaluate`, `table` and `plot`: one small run, and what is made of it."""

from __future__ import annotations

import json

import pytest

from libragrad.evaluation import table
from tests.cli.running import answer, cli, done, words

RECIPE = """
summary = "two methods on a few of the built-in pictures"

[defaults]
model = "builtin:mosaic"
dataset = "builtin:mosaic"
metric = "deletion"
preset = "Libra"
samples = 3

[[cells]]
method = ["random", "fullgrad+"]

[[tables]]
title = "Small"
scores = [{ metric = "mif_accuracy", labels = "predicted" }]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The answer of a run, and its folder."""
    folder = tmp_path_factory.mktemp("evaluation")
    (folder / "small.toml").write_text(RECIPE)
    out = folder / "results"
    given = ("evaluate", folder / "small.toml", "--out", out, "--limit", "2")
    return answer(*given), given, out


def test_a_run_reports_its_rows_and_a_second_one_keeps_them(results):
    report, given, out = results
    assert report == {
        "recipe": "small",
        "folder": str(out),
        "measured": 4,
        "kept": 0,
        "failures": [],
        "unfinished": [],
        "set_aside": [],
    }
    assert done(*given) == f"small: 0 rows measured, 4 kept, {out}\n"


def test_a_row_without_a_result_exits_1(results, tmp_path):
    recipe = RECIPE.replace('dataset = "builtin:mosaic"', 'dataset = "tsv"')
    (tmp_path / "small.toml").write_text(recipe)
    (tmp_path / "bad.png").write_bytes(b"PK")
    (tmp_path / "labels.tsv").write_text("file\tlabel\nbad.png\tcoat\n")
    given = ("--data", f"tsv={tmp_path}", "--json")
    result = cli("evaluate", tmp_path / "small.toml", "--out", tmp_path / "out", *given)
    assert result.exit_code == 1, result.stderr
    (failure,) = json.loads(result.stdout)["failures"]
    assert "is no picture that can be read here" in failure["cause"]


def test_ctrl_c_says_how_to_go_on(results, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("libragrad.evaluation.run", stopped)
    result = cli(*results[1])
    assert result.exit_code == 130
    assert result.stderr == "stopped: the same line again goes on from here\n"
    assert result.stdout == ""


def test_the_table_is_that_of_the_library(results, tmp_path):
    out = results[2]
    assert done("table", out) == f"{table(out)}\n"
    assert done("table", out, "--style", "latex") == f"{table(out, style='latex')}\n"
    file = tmp_path / "table.md"
    assert done("table", out, "--style", "markdown", "--out", file) == f"{file}\n"
    assert file.read_text(encoding="utf-8") == f"{table(out, style='markdown')}\n"


def test_the_table_as_data(results):
    (layout,) = answer("table", results[2])
    assert layout["title"] == "Small"
    assert [line["name"] for line in layout["lines"]] == ["Random", "Libra FullGrad+"]
    assert layout["lines"][0]["entries"][0]["ours"]["count"] == 2


def test_a_plot_is_a_picture(results, tmp_path):
    file = tmp_path / "curves.svg"
    assert answer("plot", results[2], "--out", file) == {"file": str(file)}
    assert b"<svg" in file.read_bytes()
    assert done("plot", results[2], "--out", file, "--metric", "lif_aopc") == f"{file}\n"


def test_a_recipe_that_the_folder_lacks(results):
    result = cli("table", results[2], "--recipe", "quick")
    assert result.exit_code == 1
    assert "holds no results of recipe 'quick', only of small" in words(result.stderr)
