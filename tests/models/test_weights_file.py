"""Weights are read without running code and fit exactly, or an error says what does not."""

import pickle
from pathlib import Path

import pytest
import torch
from torch import nn

from libragrad.errors import ModelError
from libragrad.models import safetensors
from libragrad.models.weights_file import put_weights, read_weights

WEIGHTS = {"weight": torch.arange(6.0).reshape(2, 3), "bias": torch.tensor([1.0, 2.0])}


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


class Trap:
    """Leaves a file behind if a pickle of it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["w.safetensors", "w.bin"])
def test_safetensors_are_known_by_their_content(tmp_path, name):
    safetensors.write(tmp_path / name, WEIGHTS)
    assert same(read_weights(tmp_path / name), WEIGHTS)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda w: w,
        lambda w: {"state_dict": w, "epoch": 7},
        lambda w: {"model": w},
        lambda w: {"model_state_dict": {f"module.{name}": t for name, t in w.items()}},
    ],
)
def test_checkpoints_in_the_usual_wrappings(tmp_path, wrap):
    torch.save(wrap(WEIGHTS), tmp_path / "w.pth")
    assert same(read_weights(tmp_path / "w.pth"), WEIGHTS)


def test_code_runs_only_if_it_is_allowed(tmp_path):
    trap, path = tmp_path / "sprung", tmp_path / "w.pth"
    torch.save({"state_dict": WEIGHTS, "more": Trap(trap)}, path)
    with pytest.raises(ModelError, match=r"w\.pth holds more than tensors, .* can run any code"):
        read_weights(path)
    assert not trap.exists()
    assert same(read_weights(path, allow_pickle=True), WEIGHTS)
    assert trap.exists()


def test_a_pickled_model_gives_its_weights_if_it_is_allowed(tmp_path):
    layer = nn.Linear(3, 2)
    torch.save(layer, tmp_path / "w.pth")
    with pytest.raises(ModelError, match="convert it to safetensors, or allow the pickle"):
        read_weights(tmp_path / "w.pth")
    assert same(read_weights(tmp_path / "w.pth", allow_pickle=True), layer.state_dict())


@pytest.mark.parametrize("raw", [b"", b"PK\3\4 no zip", b"\x80\x04garbage"])
def test_broken_files_are_named(tmp_path, raw):
    (tmp_path / "w.pth").write_bytes(raw)
    with pytest.raises(ModelError, match=r"w\.pth is no sound checkpoint .*get it again"):
        read_weights(tmp_path / "w.pth")
    (tmp_path / "w.safetensors").write_bytes(raw)
    with pytest.raises(ModelError, match=r"w\.safetensors is no complete safetensors file"):
        read_weights(tmp_path / "w.safetensors")


def test_a_file_without_weights_and_no_file_are_named(tmp_path):
    torch.save({"epoch": 3}, tmp_path / "w.pth")
    with pytest.raises(ModelError, match=r"w\.pth holds no weights"):
        read_weights(tmp_path / "w.pth")
    with pytest.raises(ModelError, match=r"gone\.pth do not exist: check the path"):
        read_weights(tmp_path / "gone.pth")


def test_a_plain_pickle_is_refused(tmp_path):
    (tmp_path / "w.pkl").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(ModelError, match=r"w\.pkl"):
        read_weights(tmp_path / "w.pkl")
    assert not (tmp_path / "sprung").exists()


def test_what_does_not_fit_is_listed(tmp_path):
    layer, path = nn.Linear(3, 2), tmp_path / "w"
    put_weights(layer, WEIGHTS, path, "layer")
    assert same(layer.state_dict(), WEIGHTS)
    other = {f"extra{i}": torch.zeros(1) for i in range(6)} | {"weight": torch.zeros(4, 3)}
    with pytest.raises(ModelError) as error:
        put_weights(layer, other, path, "layer")
    assert str(error.value) == (
        f"{path} does not fit layer: missing bias; "
        "unexpected extra0, extra1, extra2, extra3 and 2 more; "
        "of another shape weight is [4, 3] where [2, 3] is needed"
    )
    assert same(layer.state_dict(), WEIGHTS)
