"""The library as a bench: its rows are what its own functions say, picture by picture."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn.functional import interpolate

import libragrad
from libragrad.data import load_dataset
from libragrad.errors import DataError
from libragrad.evaluation import Cell, Failure, load_recipe, run, table
from libragrad.evaluation.library_bench import LibraryBench
from libragrad.evaluation.photographs import Photographs
from libragrad.explaining.explain import explain
from libragrad.masking import delete, masker
from libragrad.metrics import average_precision
from libragrad.models.loading import load

MOSAIC = "builtin:mosaic"
CELL = Cell(MOSAIC, MOSAIC, "fullgrad+", "deletion", "Libra")


@pytest.fixture(scope="module")
def worker():
    return LibraryBench().worker(MOSAIC, "cpu", 4)


@pytest.fixture(scope="module")
def pictures(worker):
    return [worker.load(MOSAIC, record) for record in LibraryBench().records(MOSAIC, 3, 43)]


@pytest.fixture(scope="module")
def model():
    return load(MOSAIC).model


def batch(pictures):
    x = torch.stack([picture.x for picture in pictures])
    return x, torch.tensor([picture.record.labels[0] for picture in pictures])


def test_deletion_rows_hold_the_curves_of_the_map(worker, pictures, model):
    cells = [CELL, replace(CELL, method="random"), replace(CELL, target="predicted")]
    rows = {(row.cell, row.image): row for row in worker.measure(cells, pictures)}
    assert len(rows) == 9
    x, labels = batch(pictures)
    found = explain(model, x, labels, method="fullgrad+", preset=libragrad.LIBRA)
    with torch.no_grad():
        curves = delete(masker(model, x), x, {"map": found.map.flatten(1)})
    for place, picture in enumerate(pictures):
        row = rows[CELL, picture.record.id]
        curve = curves["map", "least"]
        assert (row.label, row.masking) == (int(labels[place]), "drop")
        assert row.removed == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
        assert row.least.prediction == tuple(curve.predicted[place].tolist())
        known = curve.probability(labels)[place].numpy()
        np.testing.assert_allclose(row.least.label_probability, known, atol=1e-5)
        assert row.least.prediction[0] == row.most.prediction[0] == row.predicted


def test_completeness_rows_add_up(worker, pictures):
    plain = replace(CELL, metric="completeness", method="fullgrad", preset="Standard")
    cells = [
        replace(plain, preset="Libra"),
        plain,
    ]
    rows = list(worker.measure(cells, pictures))
    errors = {
        cell: max(abs(r.total + r.unattributed - r.y) for r in rows if r.cell == cell)
        for cell in cells
    }
    assert errors[cells[0]] < 1e-4
    assert errors[cells[1]] > 1


def test_the_sum_along_a_path_is_held_against_both_of_its_ends(worker, pictures, model):
    cell = replace(
        CELL, metric="completeness", method="input_x_grad", preset="Standard", path="integrated"
    )
    (row,) = worker.measure([cell], pictures[:1])
    x, labels = batch(pictures[:1])
    found = explain(
        model,
        x,
        labels,
        method="input_x_grad",
        preset=libragrad.STANDARD,
        path=libragrad.Integrated(),
    )
    error = row.y - row.total - row.unattributed
    assert error == pytest.approx(found.completeness_error.item(), abs=1e-4)
    assert row.y != pytest.approx(found.output.item(), abs=0.1)


def test_segmentation_rows_hold_the_scores_of_the_upsampled_map(worker, pictures, model):
    cell = replace(CELL, metric="segmentation", method="genatt")
    (row, *_) = rows = list(worker.measure([cell], pictures))
    assert len(rows) == 3
    record = pictures[0].record
    class_map = torch.from_numpy(record.class_map())
    classes, counts = class_map[class_map >= 0].unique(return_counts=True)
    largest = int(classes[counts.argmax()])
    found = explain(model, pictures[0].x[None], largest, method="genatt", preset=libragrad.LIBRA)
    score = interpolate(found.map[:, None], size=(64, 64), mode="bicubic")[:, 0]
    known = average_precision(score, (class_map == largest)[None])
    assert row.average_precision == pytest.approx(known.item(), abs=1e-4)
    assert row.pointing_game in (0.0, 1.0)
    assert 0 < row.mass_accuracy < 1


def test_a_picture_without_a_large_enough_object_is_left_out(worker, pictures, monkeypatch):
    cell = replace(CELL, metric="segmentation", method="random")
    whole = worker.class_map(pictures[0].record)
    empty = pictures[1].record.id
    monkeypatch.setattr(
        worker, "class_map", lambda r: torch.full_like(whole, -1) if r.id == empty else whole
    )
    rows = {row.image: row for row in worker.measure([cell], pictures)}
    assert rows[empty].average_precision is None
    assert rows[empty].error is None
    assert sum(row.average_precision is not None for row in rows.values()) == 2


def test_all_methods_of_a_preset_share_one_pass(worker, pictures, monkeypatch):
    calls = []
    whole = worker._explainer.explain

    def counted(*given, **named):
        calls.append(named["methods"])
        return whole(*given, **named)

    monkeypatch.setattr(worker._explainer, "explain", counted)
    cells = [
        replace(CELL, method=method, preset=preset)
        for method in ("fullgrad+", "attcat", "hirescam")
        for preset in ("Standard", "Libra")
    ]
    list(worker.measure(cells, pictures))
    assert calls == [["fullgrad+", "attcat", "hirescam"]] * 2


def test_the_quick_recipe_gives_its_stored_table(tmp_path):
    report = run("quick", tmp_path, limit=6, progress=False)
    assert report.exit_code == 0
    text = table(tmp_path)
    stored = Path(__file__).with_name("tables").joinpath("quick.text").read_text()
    number = re.compile(r"[+-]?\d+\.?\d*")
    assert words(text, number) == words(stored, number)
    # Another processor may rank two equal tokens otherwise: a point, not more.
    ours, theirs = (list(map(float, number.findall(one))) for one in (text, stored))
    assert ours == pytest.approx(theirs, abs=1.5, rel=0.05)


def words(text, number):
    return re.sub(r"[ ─¹²]+", " ", number.sub("#", text)).split()


def picture_table(folder, names):
    folder.mkdir()
    for name in names:
        Image.effect_noise((64, 64), 50).convert("RGB").save(folder / name)
    lines = ["file\tclass_index", *(f"{name}\t{n % 10}" for n, name in enumerate(names))]
    (folder / "labels.tsv").write_text("\n".join(lines) + "\n")
    return folder


def test_a_corrupt_picture_fails_by_name_and_the_others_are_measured(tmp_path):
    folder = picture_table(tmp_path / "own", ["a.png", "b.png", "c.png"])
    (folder / "b.png").write_bytes((folder / "b.png").read_bytes()[:300])
    cells = (replace(CELL, dataset="tsv", method="random", samples=10),)
    recipe = replace(load_recipe("quick"), cells=cells)
    report = run(recipe, tmp_path / "out", LibraryBench({"tsv": folder}), progress=False)
    (failure,) = report.failures
    assert isinstance(failure, Failure)
    assert failure.image == "b.png"
    assert failure.cause.startswith("PictureError: ")
    assert str(folder / "b.png") in failure.cause
    assert "images: 2" in table(tmp_path / "out")


def test_a_table_of_file_and_label_stands_for_any_data_set(tmp_path):
    folder = picture_table(tmp_path / "own", ["a.png", "b.png"])
    for path in (folder, folder / "labels.tsv"):
        assert len(LibraryBench({"imagenet": path}).dataset("imagenet")) == 2


def test_samples_of_every_size_begin_alike():
    bench = LibraryBench()
    assert bench.records(MOSAIC, 7, 1) == bench.records(MOSAIC, 50, 1)[:7]
    assert bench.records(MOSAIC, 7, 1) != bench.records(MOSAIC, 7, 2)
    drawn = load_dataset(MOSAIC).sample(7, 1)
    assert sorted(bench.records(MOSAIC, 7, 1)) == [record.id for record in drawn]


def test_a_manifest_names_versions_and_weights(tmp_path):
    assert LibraryBench().manifest(MOSAIC, MOSAIC) == {
        "libragrad": libragrad.__version__,
        "torch": torch.__version__,
        "weights": load(MOSAIC).digest,
    }
    weights = tmp_path / "own.safetensors"
    weights.write_bytes(b"one")
    name = "vit_tiny_patch16_224"
    first = LibraryBench(weights={name: weights}).manifest(name, "imagenet")
    weights.write_bytes(b"two")
    second = LibraryBench(weights={name: weights}).manifest(name, "imagenet")
    assert {key for key in first if first[key] != second[key]} == {"weights"}
    assert "timm" in first
    assert LibraryBench().manifest(name, "imagenet")["weights"] == "pretrained"


def test_labels_that_are_not_the_models_outputs_are_refused(worker, pictures):
    foreign = [replace(picture, classes=37) for picture in pictures]
    with pytest.raises(DataError, match="has 37 classes and the model 10: its labels are not the"):
        list(worker.measure([CELL], foreign))


def test_a_picture_without_a_label_cannot_be_explained_for_it(worker, pictures):
    record = replace(pictures[0].record, labels=())
    x = pictures[0].x[None]
    scene = Photographs(worker, [record], x, torch.zeros(1, 10))
    with pytest.raises(DataError, match="has no label, which was to be explained"):
        list(scene.rows([CELL]))
    (row,) = scene.rows([replace(CELL, target="predicted")])
    assert row.most is not None
    assert (row.label, row.most.label_probability) == (None, None)
    assert len(row.most.predicted_probability) == 10
