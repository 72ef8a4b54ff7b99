"""What the shipped data and weights were made with: the same seed gives the same thing."""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from libragrad.models.mosaic import MosaicViT

TRAINING = Path(__file__).parents[2] / "training"
RNG = np.random.default_rng(0)
GARMENTS = RNG.integers(1, 256, (60, 28, 28), np.uint8)
CLASSES = np.arange(60, dtype=np.uint8) % 10


@pytest.fixture
def make(monkeypatch):
    monkeypatch.syspath_prepend(TRAINING)
    return importlib.import_module("make_mosaics")


@pytest.fixture
def training(make):
    return importlib.import_module("train_mosaic")


def equal(a, b):
    return all((x == y).all() for x, y in zip(vars(a).values(), vars(b).values(), strict=True))


def test_a_seed_gives_one_batch(make):
    batch = make.training_batch((1, 2), GARMENTS, CLASSES, 8, 0.3)
    assert equal(batch, make.training_batch((1, 2), GARMENTS, CLASSES, 8, 0.3))
    assert not equal(batch, make.training_batch((1, 3), GARMENTS, CLASSES, 8, 0.3))


def test_cells_say_what_the_picture_holds(make):
    batch = make.training_batch((0,), GARMENTS, CLASSES, 50, 0.3)
    cells = batch.grey.reshape(50, 2, 32, 2, 32).transpose(0, 1, 3, 2, 4)
    assert ((cells > 0).sum(axis=(3, 4)) == np.where(batch.cells == -1, 0, 28 * 28)).all()
    for index in np.argwhere(batch.cells != -1):
        rows, columns = (cells[tuple(index)] > 0).any(1), (cells[tuple(index)] > 0).any(0)
        garment = cells[tuple(index)][rows][:, columns]
        same = batch.cells[tuple(index)] == CLASSES
        views = np.concatenate([GARMENTS[same], GARMENTS[same][:, :, ::-1]])
        assert (views == garment).all(axis=(1, 2)).any()


def test_held_out_mosaics_use_nothing_twice(make):
    parts = make.held_out(0, GARMENTS, CLASSES, 6)
    assert all(len(set(cells.flat)) == 4 for cells in parts.cells)
    cells = parts.grey.reshape(6, 2, 32, 2, 32).transpose(0, 1, 3, 2, 4).reshape(24, 32, 32)
    assert len({tuple(sorted(cell[cell > 0])) for cell in cells}) == 24


def test_the_shipped_mosaics_are_the_scripts(make):
    if not make.FASHION.is_dir():
        pytest.skip("needs Fashion-MNIST: apt-get install dataset-fashion-mnist")
    made = make.held_out(0, *make.read_fashion(make.FASHION, "t10k"), 400)
    with np.load(make.SHIPPED) as shipped:
        assert set(shipped) == set(vars(made))
        assert all((shipped[name] == part).all() for name, part in vars(made).items())


def test_a_missing_data_set_says_how_to_get_it(make, tmp_path):
    with pytest.raises(FileNotFoundError, match="apt-get install dataset-fashion-mnist"):
        make.read_fashion(tmp_path / "nowhere", "train")


@pytest.mark.parametrize(("number", "index"), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)])
def test_each_stage_keeps_cls_and_its_share_of_patches(training, number, index):
    stage = training.ROUNDS[number][index]
    keep = training.visible(np.random.default_rng(0), stage, 16)
    patches = (64 if stage.alone else 256) * stage.share
    assert keep.shape == (stage.count, 4 if stage.alone else 1, 1 + patches)
    assert (keep[..., 0] == 0).all()
    assert all(len(set(row.tolist())) == 1 + patches for row in keep.flatten(0, 1))
    if stage.alone:
        y, x = (keep[..., 1:] - 1) // 16, (keep[..., 1:] - 1) % 16
        assert (y // 8 * 2 + x // 8 == torch.arange(4)[None, :, None]).all()


def test_truth_is_the_cells(make, training):
    parts = make.training_batch((0,), GARMENTS, CLASSES, 20, 0.3)
    together, alone = training.presence(parts, alone=False), training.presence(parts, alone=True)
    for m, cells in enumerate(parts.cells.reshape(20, 4)):
        assert set(together[m].nonzero().flatten().tolist()) == set(cells.tolist()) - {-1}
        for c, label in enumerate(cells):
            expected = [] if label == -1 else [label]
            assert alone[4 * m + c].nonzero().flatten().tolist() == expected


def test_all_tokens_are_the_plain_forward_pass(make, training):
    stage = training.Stage("all", steps=1, count=2, share=1.0, alone=False)
    parts = make.training_batch((0,), GARMENTS, CLASSES, 2, 0.0)
    keep = training.visible(np.random.default_rng(0), stage, 16)
    model = MosaicViT().eval()
    pictures = training.preprocess(training.render(parts.grey, parts.tint, parts.background))
    with torch.no_grad():
        assert torch.allclose(training.forward(model, parts, keep), model(pictures), atol=1e-5)


def test_a_patch_is_asked_what_its_own_cell_holds(make, training):
    parts = make.training_batch((0,), GARMENTS, CLASSES, 6, 0.3)
    for stage in (training.ROUNDS[0][0], training.ROUNDS[0][1]):
        keep = training.visible(np.random.default_rng(0), replace(stage, count=6), 16)
        truth = training.patch_truth(parts, keep, 16).unflatten(0, keep.shape[:2])
        for mosaic, group, patch in np.ndindex(6, keep.shape[1], keep.shape[2] - 1):
            row, column = divmod(int(keep[mosaic, group, patch + 1]) - 1, 16)
            label = parts.cells[mosaic, row // 8, column // 8]
            found = truth[mosaic, group, patch].nonzero().flatten().tolist()
            assert found == ([] if label == -1 else [label])


def test_the_answer_of_cls_is_the_models_but_for_bfloat16(make, training):
    stage = training.ROUNDS[1][1]
    parts = make.training_batch((0,), GARMENTS, CLASSES, stage.count, 0.1)
    keep = training.visible(np.random.default_rng(0), stage, 16)
    model = MosaicViT().eval()
    with torch.no_grad():
        every, plain = training.answers(model, parts, keep), training.forward(model, parts, keep)
        loss, logits, truth = training.losses(model, parts, keep, stage)
    assert every.shape == (16, 257, 10)
    assert torch.allclose(every[:, 0], plain, atol=0.01)
    assert plain.std() > 0.1
    own = every[:, 1:]
    expected = F.binary_cross_entropy_with_logits(every[:, 0], truth)
    expected += F.binary_cross_entropy_with_logits(own, training.patch_truth(parts, keep, 16))
    assert torch.allclose(loss, expected)
    assert torch.equal(logits, every[:, 0])


def test_the_learning_rate_rises_then_falls_to_nothing(training):
    rates = [training.learning_rate(done, 1.0) for done in (0.0, 0.02, 0.04, 0.52, 1.0)]
    assert rates == pytest.approx([0, 0.5, 1, 0.5, 0])


def test_a_seed_gives_one_model(training, capsys):
    rounds = (
        (
            training.Stage("cells", steps=2, count=2, share=0.5, alone=True),
            training.Stage("whole", steps=1, count=2, share=1.0, alone=False),
        ),
        (training.Stage("half", steps=2, count=2, share=0.5, alone=False, patches=1.0),),
    )
    caller = torch.get_rng_state()
    first, again, other = (
        training.train(seed, GARMENTS, CLASSES, rounds).state_dict() for seed in (0, 0, 1)
    )
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["head.weight"], other["head.weight"])
    printed = capsys.readouterr().out
    assert "step 3/3  whole: loss" in printed
    assert "step 2/2  half: loss" in printed
    assert torch.equal(torch.get_rng_state(), caller)
