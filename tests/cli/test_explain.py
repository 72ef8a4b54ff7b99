"""`explain`: what goes in, what comes out, and what is said of it."""

from __future__ import annotations

import json
import re

import pytest
import torch
from PIL import Image

import libragrad
from libragrad.explaining.archive import load
from libragrad.models import mosaic
from libragrad.models.mosaic import MosaicViT
from tests.cli.running import MOSAIC, answer, cli, done, pictures, words


@pytest.fixture(scope="module")
def model():
    return mosaic.load()


def entries(*arguments: object):
    (picture,) = answer("explain", *MOSAIC, "builtin:mosaic-000", *arguments)["pictures"]
    return picture["explanations"]


def test_the_numbers_are_those_of_the_library(model):
    found = entries("--target", "coat", "--target", "3", "--values")
    x = mosaic.preprocess(mosaic.mosaic_images().images[0])
    own = libragrad.explain(model, x, targets=["coat", 3])
    assert [one["target"] for one in found] == ["coat", "dress"]
    assert [one["class"] for one in found] == [4, 3]
    for one, expected in zip(found, own, strict=True):
        assert one["method"] == "fullgrad+"
        assert one["name"] == "Libra FullGrad+"
        assert one["output"] == pytest.approx(float(expected.output), rel=1e-6)
        assert one["map"] == pytest.approx(expected.map[0].numpy(), rel=1e-4, abs=1e-5)
        assert one["on_map"] == pytest.approx(float(expected.map.sum()), rel=1e-4)
        assert abs(one["completeness_error"]) < 1e-4


def test_options_reach_the_library(model):
    x = mosaic.preprocess(mosaic.mosaic_images().images[0])
    given = ("--method", "hirescam", "--preset", "cp-lrp", "--path", "integrated", "--steps", "3")
    more = ("--output", "probability", "--level", "1", "--profile", "paper", "--batch-size", "2")
    (found,) = entries("--contrast", "coat", "dress", *given, *more, "--values")
    own = libragrad.explain(
        model,
        x,
        libragrad.Contrast("coat", "dress"),
        method="hirescam",
        preset=libragrad.CP_LRP,
        path=libragrad.Integrated(3),
        output="probability",
        level=1,
        profile="paper",
    )
    assert found["target"] == "coat − dress"
    assert found["name"] == own.name
    assert found["map"] == pytest.approx(own.map[0].numpy(), rel=1e-4, abs=1e-6)
    assert found["completeness_error"] is None  # HiResCAM claims none, and JSON has no NaN


def test_compare_puts_the_plain_gradient_before_each_method_that_has_one():
    found = entries(
        "--compare", "--method", "fullgrad+", "--method", "rawatt", "-t", "1", "-t", "2"
    )
    assert [(one["name"], one["class"]) for one in found] == [
        ("FullGrad+", 1),
        ("FullGrad+", 2),
        ("Libra FullGrad+", 1),
        ("Libra FullGrad+", 2),
        ("RawAtt", 1),
        ("RawAtt", 2),
    ]


def test_a_deletion_curve_begins_with_the_models_own_probability(model):
    found = entries("--deletion", "-t", "coat", "-t", "dress", "--method", "random")
    x = mosaic.preprocess(mosaic.mosaic_images().images[0])
    shares = model(x)[0].detach().double().softmax(0)
    for one in found:
        assert one["deletion"][0] == pytest.approx(float(shares[one["class"]]), rel=1e-6)
        assert len(one["deletion"]) == 10


def test_the_terminal_shows_a_picture_without_out():
    text = done("explain", *MOSAIC, "builtin:mosaic-000", "-t", "coat")
    assert text.startswith("mosaic-000\n\nLibra FullGrad+\n\ncoat\n")
    assert "100.00 % of the logit" in words(text)


def test_weights_of_a_file(tmp_path):
    torch.manual_seed(1)
    torch.save(MosaicViT().state_dict(), tmp_path / "w.pt")
    given = (*MOSAIC, "builtin:mosaic-000", "--weights", tmp_path / "w.pt", "-t", "0")
    found = answer("explain", *given)
    assert found["model"]["weights"] == "w.pt"
    assert found["pictures"][0]["explanations"][0]["output"] != entries("-t", "0")[0]["output"]


def test_a_pickle_is_loaded_only_when_it_is_allowed(tmp_path):
    torch.save(MosaicViT(), tmp_path / "w.pt")
    given = ("explain", *MOSAIC, "builtin:mosaic-000", "--weights", tmp_path / "w.pt")
    refused = cli(*given)
    assert refused.exit_code == 1
    assert "holds more than tensors, and loading it can run any code" in words(refused.stderr)
    assert cli(*given, "--allow-pickle").exit_code == 0


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".html", b"<!doctype html>")]
)
def test_out_writes_a_file_and_says_what_it_holds(suffix, start, tmp_path):
    out = tmp_path / f"map{suffix}"
    text = done("explain", *MOSAIC, "builtin:mosaic-000", "-t", "coat", "--out", out, "--deletion")
    assert text.startswith(f"{out}\nLibra FullGrad+ of MosaicViT\n  coat: output ")
    assert out.read_bytes().startswith(start)


def test_an_npz_file_holds_the_numbers(tmp_path):
    out = tmp_path / "map.npz"
    found = answer("explain", *MOSAIC, "builtin:mosaic-000", "-t", "coat", "--out", out)
    saved = load(out)
    assert found["pictures"][0]["file"] == str(out)
    assert saved.labels == ("coat",)
    assert float(saved.output) == found["pictures"][0]["explanations"][0]["output"]


def test_a_folder_becomes_a_folder_of_pictures_and_one_page(tmp_path):
    pictures(tmp_path / "in")
    text = done("explain", *MOSAIC, tmp_path / "in", "--out", tmp_path / "out", "-t", "coat")
    assert text == f"{tmp_path / 'out' / 'index.html'}\n"
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["index.html", "mosaic-0.png", "mosaic-1.png"]
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'href="([^"]+)"', page) == ["mosaic-0.png", "mosaic-1.png"]
    thumbnails = re.findall(r'src="([^"]+)"', page)
    assert len(thumbnails) == 2
    assert all(one.startswith("data:image/jpeg;base64,") for one in thumbnails)
    assert "<h1>Libra FullGrad+</h1>" in page
    assert "coat: 100.00 % of the logit accounted for" in page


def test_globs_are_expanded_and_nothing_is_taken_twice(tmp_path):
    one, two = pictures(tmp_path / "in")
    (tmp_path / "in" / "deep").mkdir()
    two.rename(tmp_path / "in" / "deep" / one.name)
    given = (tmp_path / "in" / "**" / "*.png", one, tmp_path / "in")
    found = answer("explain", *MOSAIC, *given, "--out", tmp_path / "out", "-t", "0")
    names = [(picture["picture"], picture["file"]) for picture in found["pictures"]]
    assert names == [
        (str(tmp_path / "in" / "deep" / one.name), str(tmp_path / "out" / "mosaic-0.png")),
        (str(one), str(tmp_path / "out" / "mosaic-0-2.png")),
    ]
    assert found["index"] == str(tmp_path / "out" / "index.html")


def test_a_bad_file_is_named_and_skipped_and_the_rest_done(tmp_path):
    pictures(tmp_path / "in")
    bad, out = tmp_path / "in" / "mosaic-00.jpg", tmp_path / "out"
    bad.write_bytes(b"PK\x03\x04 no picture")
    result = cli("explain", *MOSAIC, tmp_path / "in", "--out", out, "--json", "-t", "0")
    assert result.exit_code == 1
    said = words(result.stderr)
    assert f"skipped {bad} is no picture that can be read here" in said
    assert said.endswith("2 of 3 pictures explained, 1 skipped")
    found = json.loads(result.stdout)
    assert [one["picture"] for one in found["skipped"]] == [str(bad)]
    assert len(found["pictures"]) == 2
    assert found["stopped"] is False
    page = (out / "index.html").read_text(encoding="utf-8")
    assert f"<h2>Skipped</h2><ul><li>{bad} is no picture" in page


def test_pictures_of_other_sizes_come_to_the_models(tmp_path):
    Image.new("L", (90, 30), 128).save(tmp_path / "grey.png")
    Image.new("RGBA", (64, 64)).save(tmp_path / "clear.png")
    found = answer("explain", *MOSAIC, tmp_path, "-t", "0")
    assert [len(picture["explanations"]) for picture in found["pictures"]] == [1, 1]
