"""The built-in model is what its card says, and its pictures are what their masks say."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from libragrad.models import mosaic, safetensors
from libragrad.models.mosaic.accuracy import accuracy

PACKAGE = Path(mosaic.__file__).parent
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def model():
    return mosaic.load()


@pytest.fixture(scope="module")
def data():
    return mosaic.mosaic_images()


def plain_logits(weights, pictures):
    """The model written out: attention as a softmax, the patches as one matrix product."""

    def linear(name, h):
        return h @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(name, h):
        centred = h - h.mean(-1, keepdim=True)
        scale = (centred.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()
        return centred / scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    weights = {name: tensor.double() for name, tensor in weights.items()}
    kernel = weights["patch_embed.weight"]
    columns = F.unfold(pictures.double(), 4, stride=4).transpose(1, 2)
    patches = columns @ kernel.flatten(1).T + weights["patch_embed.bias"]
    cls = weights["cls_token"].expand(len(pictures), -1, -1)
    h = torch.cat([cls, patches], dim=1) + weights["pos_embed"]
    for i in range(5):
        q, k, v = linear(f"blocks.{i}.attn.qkv", norm(f"blocks.{i}.norm1", h)).chunk(3, dim=-1)
        heads = []
        for qh, kh, vh in zip(q.split(32, -1), k.split(32, -1), v.split(32, -1), strict=True):
            heads.append((qh @ kh.transpose(1, 2) / 32**0.5).softmax(-1) @ vh)
        h = h + linear(f"blocks.{i}.attn.proj", torch.cat(heads, dim=-1))
        x = linear(f"blocks.{i}.mlp.0", norm(f"blocks.{i}.norm2", h))
        x = x * 0.5 * (1 + torch.erf(x / 2**0.5))
        h = h + linear(f"blocks.{i}.mlp.2", x)
    return linear("head", norm("norm", h)[:, 0])


def test_the_model_is_the_plain_formula(model, data):
    pictures = mosaic.preprocess(data.images[:2])
    with torch.no_grad():
        expected = plain_logits(model.state_dict(), pictures)
        assert torch.allclose(model(pictures).double(), expected, atol=1e-4, rtol=1e-4)


def test_the_weights_fit_exactly_and_are_small(model):
    path = PACKAGE / "weights.safetensors"
    tensors = safetensors.read(path)
    fresh = mosaic.MosaicViT()
    fresh.load_state_dict(tensors, strict=True)
    assert {n: t.shape for n, t in tensors.items()} == {
        n: t.shape for n, t in fresh.state_dict().items()
    }
    assert all(tensor.isfinite().all() for tensor in tensors.values())
    assert path.stat().st_size <= 4 * MEGABYTE
    assert (PACKAGE / "mosaics.npz").stat().st_size <= 1 * MEGABYTE


def test_loading_is_ready_to_explain_and_leaves_no_trace(data):
    state = torch.get_rng_state()
    first, second = mosaic.load(), mosaic.load()
    assert torch.equal(state, torch.get_rng_state())
    assert not first.training
    assert all(p.requires_grad and p.device.type == "cpu" for p in first.parameters())
    with torch.no_grad():
        first.head.weight.zero_()
    assert second.head.weight.abs().sum() > 0


def test_missing_and_surplus_weights_are_refused(tmp_path, model):
    weights = model.state_dict()
    bias = weights.pop("head.bias")
    safetensors.write(tmp_path / "short", weights)
    with pytest.raises(RuntimeError, match=r'Missing key.*"head\.bias"'):
        mosaic.load(tmp_path / "short")
    safetensors.write(tmp_path / "long", weights | {"head.bias": bias, "neck.bias": bias})
    with pytest.raises(RuntimeError, match=r'Unexpected key.*"neck\.bias"'):
        mosaic.load(tmp_path / "long")


def test_weights_of_ones_own_are_loaded(tmp_path, model):
    safetensors.write(tmp_path / "own", model.state_dict() | {"head.bias": torch.ones(10)})
    assert mosaic.load(tmp_path / "own").head.bias.tolist() == [1.0] * 10


def test_the_accuracy_is_the_cards(model, data):
    card = (PACKAGE / "CARD.md").read_text(encoding="utf-8")
    measured = str(mosaic.measure(model, data))
    number = r"(\d+\.\d)%"
    table = [line for line in card.splitlines() if re.search(number, line)]
    rows = [line for line in measured.splitlines() if re.search(number, line)]
    assert len(rows) == 12
    for row in rows:
        (written,) = [line for line in table if re.sub(number, "", line) == re.sub(number, "", row)]
        # Two of 400 mosaics may lie so near the boundary that a machine's rounding counts.
        assert [float(x) for x in re.findall(number, written)] == pytest.approx(
            [float(x) for x in re.findall(number, row)], abs=0.51
        ), f"the card says {written}, measured is {row}"


def test_the_accuracy_is_good_enough_to_judge_a_method_by(model, data):
    measured = mosaic.measure(model, data)
    assert measured.right.mean() >= 0.85
    assert measured.precision.mean() >= 0.85


def test_accuracy_where_it_is_known():
    labels = torch.eye(4, dtype=torch.bool)
    perfect = accuracy(labels.float() - 0.5, labels)
    assert perfect.right.tolist() == perfect.found.tolist() == perfect.precision.tolist() == [1] * 4
    assert perfect.all_four == 1
    silent = accuracy(torch.full((4, 4), -1.0), labels)
    assert silent.right.tolist() == [0.75] * 4
    assert silent.found.tolist() == [0] * 4
    assert silent.precision.tolist() == [0.25] * 4


def test_labels_cells_and_masks_agree(data):
    assert data.images.shape == (len(data), 64, 64, 3)
    assert data.images.dtype == np.uint8
    assert len(data) == 400
    for index in range(len(data)):
        present = {int(c) for c in data.cells[index].flat}
        assert present == set(np.flatnonzero(data.labels[index]))
        assert len(present) == 4
        assert data.names(index) == tuple(mosaic.LABELS[c] for c in data.cells[index].flat)
        cover = np.zeros((64, 64), int)
        for label in range(10):
            cell, garment = data.cell_mask(index, label), data.object_mask(index, label)
            assert cell.sum() == 32 * 32 * (label in present)
            assert (garment.sum() > 50) == (label in present)
            assert not (garment & ~cell).any()
            cover += cell
        assert (cover == 1).all()


def test_a_mask_lies_where_its_garment_is(data):
    """Outside the garments there is the background and nothing else."""
    for index in range(len(data)):
        background = data.images[index][~data.objects[index]]
        assert (background == background[0]).all()
        for (row, column), label in np.ndenumerate(data.cells[index]):
            expected = np.zeros((64, 64), bool)
            expected[32 * row : 32 * row + 32, 32 * column : 32 * column + 32] = True
            assert (data.cell_mask(index, label) == expected).all()


def test_the_model_looks_for_a_class_in_its_own_cell(model, data):
    """Without the tokens of a class's cell its logit falls; without another's it hardly moves."""
    h = model.tokens(mosaic.preprocess(data.images[:40]))
    cell_of = np.arange(256).reshape(16, 16) // 128 * 2 + np.arange(256).reshape(16, 16) % 16 // 8
    with torch.no_grad():
        whole = model.classify(h)
        falls = torch.zeros(40, 4, 4)
        for cell in range(4):
            kept = F.pad(torch.from_numpy(1 + np.flatnonzero(cell_of != cell)), (1, 0))
            fall = whole - model.classify(h[:, kept])
            falls[:, cell] = fall.gather(1, torch.from_numpy(data.cells[:40]).flatten(1))
    own = torch.eye(4, dtype=torch.bool).expand_as(falls)
    assert falls[own].mean() > 3 * falls[~own].abs().mean()


def test_data_are_the_same_each_time(data):
    again = mosaic.mosaic_images()
    for name in ("images", "cells", "objects", "labels"):
        assert (getattr(data, name) == getattr(again, name)).all()


def test_render_is_the_formula():
    rng = np.random.default_rng(0)
    grey = rng.integers(0, 256, (3, 8, 8), np.uint8)
    tint, ground = (
        rng.integers(0, 256, (3, 2, 2, 3), np.uint8),
        rng.integers(0, 256, (3, 3), np.uint8),
    )
    picture = mosaic.render(grey, tint, ground)
    for m, y, x, c in np.ndindex(picture.shape):
        share = grey[m, y, x] / 255
        expected = ground[m, c] * (1 - share) + tint[m, y // 4, x // 4, c] * share
        assert abs(picture[m, y, x, c] - expected) <= 0.5 + 1e-9


def test_preprocess_is_the_formula(data):
    one = mosaic.preprocess(data.images[3])
    assert one.shape == (1, 3, 64, 64)
    assert one[0, 1, 5, 7].item() == pytest.approx((data.images[3, 5, 7, 1] / 255 - 0.25) / 0.25)
    assert torch.equal(mosaic.preprocess(data.images[2:5])[1], one[0])


def test_pictures_of_another_size_are_refused(model):
    message = r"shape \[B, 3, 64, 64\], got \[1, 3, 32, 32\]: resize them, or call `preprocess`"
    with pytest.raises(ValueError, match=message):
        model(torch.zeros(1, 3, 32, 32))
