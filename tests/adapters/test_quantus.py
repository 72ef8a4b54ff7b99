"""Beside the real Quantus."""

from __future__ import annotations

import re

import numpy as np
import pytest
import quantus
import torch
from torch import nn

from libragrad import STANDARD, TargetError
from libragrad.adapters import explain_func
from libragrad.explaining.explain import explain
from tests.adapters.models import convolutional, pictures


def arrays(side: int = 64):
    return pictures(side).float().numpy(), np.array([1, 4])


def test_maps_are_those_of_the_library():
    model, (x, y) = convolutional(), arrays()
    ours = explain_func(model, x, y, method="fullgrad")
    e = explain(model, torch.as_tensor(x).double(), [1, 4], method="fullgrad")
    assert ours.shape == (2, 1, 64, 64)
    np.testing.assert_allclose(ours.sum((1, 2, 3)), e.map.sum((1, 2)).numpy(), rtol=1e-12)
    blocks = ours[:, 0].reshape(2, 16, 4, 16, 4).sum((2, 4))
    np.testing.assert_allclose(blocks, e.map.numpy(), rtol=1e-12)


def test_other_kinds_of_output():
    model, (x, y) = convolutional(), arrays()
    ours = explain_func(model, x, y, output="probability", device="cpu")
    e = explain(model, torch.as_tensor(x).double(), [1, 4], output="probability")
    np.testing.assert_allclose(ours.sum((1, 2, 3)), e.map.sum((1, 2)).numpy(), rtol=1e-10)


class Sum(nn.Module):
    """y_c = (c + 1) Σ w ⊙ x: what each pixel gives is known."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.weight = nn.Parameter(torch.randn(1, 1, 8, 8, generator=generator))
        self.layers = nn.Sequential(*(nn.Conv2d(1, 1, 1, bias=False) for _ in range(2)))
        for p in self.layers.parameters():
            nn.init.ones_(p)
        self.factor = nn.Parameter(torch.arange(1.0, 6.0))

    def forward(self, x):
        return (self.weight * self.layers(x)).sum((1, 2, 3))[:, None] * self.factor


def test_pixel_flipping_takes_the_map_in_its_order():
    """For y = Σ w x each flip takes the largest w x: the curve is known."""
    generator = torch.Generator().manual_seed(4)
    x = torch.randn(2, 1, 8, 8, generator=generator)
    model, y, step = Sum().eval(), np.array([1, 4]), 16
    metric = quantus.PixelFlipping(
        features_in_step=step, perturb_baseline=0.0, normalise=False, abs=False,
        disable_warnings=True, display_progressbar=False, return_aggregate=False,
    )  # fmt: skip
    curves = metric(
        model=model, x_batch=x.numpy(), y_batch=y, device="cpu", softmax=False,
        explain_func=explain_func,
        explain_func_kwargs={
            "method": "input_x_grad", "preset": STANDARD, "level": "pixels", "blocks": "layers",
        },
    )  # fmt: skip
    given = (model.weight.detach() * x).flatten(1).sort(1, descending=True).values
    left = [given[:, k:].sum(1) for k in range(step, 65, step)]
    expected = torch.stack(left, 1) * torch.tensor([[2.0], [5.0]])
    np.testing.assert_allclose(np.array(curves).reshape(2, -1), expected.numpy(), atol=1e-4)


def test_wrong_targets_are_refused():
    x, _ = arrays()
    with pytest.raises(TargetError, match=re.escape("target (9,) is out of range")):
        explain_func(convolutional(), x, np.array([1, 9]))
    with pytest.raises(TargetError, match="3 targets were given for 2 images"):
        explain_func(convolutional(), x, np.array([1, 2, 3]))
