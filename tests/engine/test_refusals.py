"""What cannot be explained is refused in one clear sentence."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from libragrad import InputError, LibraGradError, TargetError, audit
from tests.checks import Operation
from tests.engine.networks import images, mlp, rows

INPUTS: dict[str, tuple[Any, str]] = {
    "NaN": (
        torch.full((1, 4), torch.nan).double(),
        "the input holds NaN or infinite values; find them with torch.isnan(inputs)",
    ),
    "infinite": (
        torch.full((1, 4), torch.inf).double(),
        "the input holds NaN or infinite values; find them with torch.isnan(inputs)",
    ),
    "NaN beside a mask": (
        torch.tensor([[torch.nan, -torch.inf, 0, 0]]).double(),
        "the input holds NaN or infinite values; find them with torch.isnan(inputs)",
    ),
    "empty": (rows()[:0], "the batch is empty: there is nothing to explain"),
    "number": (
        3.0,
        "inputs must be a tensor, a tuple of tensors, or a dictionary of keyword arguments, "
        "not float",
    ),
    "text": (
        "a cat",
        "inputs must be a tensor, a tuple of tensors, or a dictionary of keyword arguments, "
        "not str",
    ),
}


@pytest.mark.parametrize(("inputs", "words"), INPUTS.values(), ids=INPUTS.keys())
def test_inputs(inputs, words):
    with pytest.raises(InputError) as error:
        audit(mlp(), inputs, 1)
    assert str(error.value) == words


def test_tokens_that_are_not_embedded():
    model = Operation(lambda ids: F.one_hot(ids, 5).double().sum(1))
    with pytest.raises(InputError) as error:
        audit(model, torch.tensor([[1, 2]]), 1)
    assert str(error.value) == (
        "nothing to explain: the inputs hold no floating-point tensor, and no embedding of the "
        "integer ones was met"
    )


TARGETS: dict[str, tuple[Any, str]] = {
    "too large": (3, "target 3 is out of range: the output has 3 classes"),
    "too negative": (-4, "target -4 is out of range: the output has 3 classes"),
    "too large among several": (
        torch.tensor([0, 5]),
        "out of range: the output has 3 classes",
    ),
    "too many": (torch.tensor([0, 1, 2]), "3 targets were given for 2 images"),
    "fractions": (torch.tensor([0.5, 1]), "a target index must be an integer, not torch.float32"),
    "fraction": (1.5, "got 1.5"),
    "no tensor": (lambda y: 3.0, "the target callable returned float, not a tensor"),
}


@pytest.mark.parametrize(("target", "words"), TARGETS.values(), ids=TARGETS.keys())
def test_targets(target, words):
    with pytest.raises(TargetError) as error:
        audit(mlp(), rows(), target)
    assert words in str(error.value)


def test_an_index_into_a_picture():
    with pytest.raises(TargetError, match=r"^the output has the shape \(2, 4, 8, 8\)"):
        audit(nn.Conv2d(3, 4, 1).double(), images(), 1)


def test_they_are_all_errors_of_the_library():
    assert issubclass(InputError, LibraGradError)
    assert issubclass(TargetError, LibraGradError)
    assert issubclass(InputError, ValueError)
