"""Beside the real pytorch-grad-cam."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pytorch_grad_cam import GradCAM
from pytorch_grad_cam.utils.model_targets import (
    ClassifierOutputSoftmaxTarget,
    ClassifierOutputTarget,
)

from libragrad import STANDARD
from libragrad.adapters import LibraCAM
from libragrad.explaining.explain import explain
from tests.adapters.models import convolutional, pictures

TARGETS = {
    "class": [ClassifierOutputTarget(1), ClassifierOutputTarget(4)],
    "probability": [ClassifierOutputSoftmaxTarget(1), ClassifierOutputSoftmaxTarget(4)],
    "predicted": None,
}


def last_block_input(model):
    """The library's GradCAM takes what enters the last block: the layer before it."""
    return model.layer3[-1]


@pytest.mark.parametrize("kind", TARGETS)
def test_gradcam_is_theirs(kind):
    model, x = convolutional(), pictures(96)
    theirs = GradCAM(model, [last_block_input(model)])(input_tensor=x, targets=TARGETS[kind])
    with LibraCAM(model=model, method="gradcam", preset=STANDARD, level=-1) as cam:
        ours = cam(input_tensor=x, targets=TARGETS[kind])
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype == np.float32
    np.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_without_their_scale_too():
    """Σ_c w_c h with w the mean gradient, before ReLU and scale."""
    model, x = convolutional(), pictures(64)
    cam = GradCAM(model, [last_block_input(model)])
    cam(input_tensor=x, targets=TARGETS["class"])
    (h,), (g,) = cam.activations_and_grads.activations, cam.activations_and_grads.gradients
    theirs = (g.mean((2, 3), keepdim=True) * h).sum(1).detach()
    e = explain(model, x, [1, 4], method="gradcam", preset=STANDARD, level=-1)
    torch.testing.assert_close(e.map, theirs, rtol=1e-9, atol=1e-14)


def test_targets_of_the_library():
    model, x = convolutional(), pictures(64)
    cam = LibraCAM(model)
    assert np.array_equal(cam(x, TARGETS["class"]), cam(x, [1, 4]))


def test_a_map_without_a_positive_part_is_black():
    model, x = convolutional(), torch.zeros(1, 3, 64, 64, dtype=torch.float64)
    grey = LibraCAM(model, method="input_x_grad", level="pixels")(x, [0])
    assert grey.shape == (1, 64, 64)
    assert not grey.any()
