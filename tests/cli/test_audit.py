"""`audit`: the account that the library keeps, printed or as JSON."""

from __future__ import annotations

import pytest
import torch

import libragrad
from libragrad.models import mosaic
from tests.cli.running import answer, cli, done, words

MOSAIC = ("audit", "builtin:mosaic")


def own(x, target, preset=libragrad.LIBRA):
    return libragrad.audit(mosaic.load(), x, target, preset=preset)


def test_the_account_is_that_of_the_library():
    x = mosaic.preprocess(mosaic.mosaic_images().images[1])
    text = done(*MOSAIC, "--image", "builtin:mosaic-001", "--target", "sandal")
    assert text == f"{own(x, 5)}\n"


def test_without_a_picture_the_input_is_random_with_a_seed():
    x = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(7))
    assert done(*MOSAIC, "--seed", "7") == f"{own(x, None)}\n"


def test_as_json_it_names_the_leaks():
    found = answer(*MOSAIC, "--preset", "standard", "--target", "3")
    x = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    expected = own(x, 3, libragrad.STANDARD)
    assert found["model"]["name"] == "builtin:mosaic"
    assert found["preset"] == "Standard"
    assert found["output"] == pytest.approx(expected.output, rel=1e-6)
    assert found["inputs"] + found["biases"] + found["error"] == pytest.approx(found["output"])
    assert found["leaks"][0] == {
        "operation": expected.leaks[0].operation,
        "module": expected.leaks[0].module,
        "leak": pytest.approx(expected.leaks[0].leak, rel=1e-6),
    }
    assert found["unknown"] == []
    assert found["operations"] == expected.operations


def test_it_takes_one_picture():
    result = cli(*MOSAIC, "--image", "builtin:mosaic")
    assert result.exit_code == 2
    assert "Invalid value for --image: an audit takes one picture" in words(result.stderr)


def test_a_label_that_the_model_lacks():
    result = cli(*MOSAIC, "--target", "spoon")
    assert result.exit_code == 1
    assert words(result.stderr).startswith("error no class is named 'spoon'")
