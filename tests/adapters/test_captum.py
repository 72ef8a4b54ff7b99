"""Beside the real Captum."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from captum.attr import InputXGradient, IntegratedGradients
from captum.metrics import sensitivity_max
from torch import nn

from libragrad import STANDARD, InputError, TargetError
from libragrad.adapters import LibraAttribution
from libragrad.adapters.captum import over_channels
from libragrad.explaining.explain import explain
from libragrad.paths import Integrated
from libragrad.targets import Contrast
from tests.adapters.models import convolutional, pictures, transformer

PLAIN: dict[str, Any] = {"method": "input_x_grad", "preset": STANDARD, "level": "pixels"}


@pytest.fixture(scope="module", params=[(transformer, 48), (convolutional, 32)])
def case(request):
    build, side = request.param
    return build(), pictures(side)


@pytest.mark.parametrize("target", [3, [1, 4], torch.tensor([1, 4]), (2,), [(0,), (5,)]])
def test_plain_input_x_gradient_is_captums(case, target):
    model, x = case
    theirs = InputXGradient(model).attribute(x.clone().requires_grad_(), target=target).detach()
    ours = LibraAttribution(model, **PLAIN).attribute(x, target=target)
    assert ours.shape == theirs.shape
    torch.testing.assert_close(ours.sum(1), theirs.sum(1), rtol=1e-10, atol=1e-14)


def test_integrated_gradients_are_captums(case):
    """Captum's trapezoid of n points weighs 1/n, in float32, where the rule says 1/(n − 1)."""
    model, x = case
    n = 9
    baseline = torch.full_like(x, 0.25)
    theirs = IntegratedGradients(model).attribute(
        x, baseline, target=3, n_steps=n, method="riemann_trapezoid"
    )
    path = Integrated(steps=n - 1, baseline=baseline)
    ours = LibraAttribution(model, **PLAIN, path=path).attribute(x, target=3)
    torch.testing.assert_close(ours.sum(1), theirs.sum(1) * n / (n - 1), rtol=2e-8, atol=1e-14)


def test_attributions_sum_to_the_map():
    model, x = transformer(), pictures(48)
    ours = LibraAttribution(model, method="fullgrad").attribute(x, target=3)
    e = explain(model, x, 3, method="fullgrad")
    torch.testing.assert_close(ours.sum((1, 2, 3)), e.map.sum((1, 2)), rtol=1e-12, atol=0)
    torch.testing.assert_close(
        ours.sum((1, 2, 3)) + e.unattributed, model(x)[:, 3].detach(), rtol=1e-9, atol=0
    )


def test_a_tuple_in_a_tuple_out():
    model, x = convolutional(), pictures(32)
    attribution = LibraAttribution(model, **PLAIN)
    (ours,) = attribution.attribute((x,), target=3)
    assert torch.equal(ours, attribution.attribute(x, target=3))


class Scaled(nn.Module):
    """A model with a second argument, which is not explained, and one output an image."""

    def __init__(self, keep: bool) -> None:
        super().__init__()
        self.model, self.keep = convolutional(), keep

    def forward(self, x, scale):
        return (self.model(x) * scale)[:, 2:3] if self.keep else (self.model(x) * scale)[:, 2]


@pytest.mark.parametrize("keep", [True, False])
def test_further_arguments_and_a_single_output(keep):
    model, x = Scaled(keep).eval(), pictures(32)
    theirs = InputXGradient(model).attribute(
        x.clone().requires_grad_(), additional_forward_args=-3.0
    )
    ours = LibraAttribution(model, **PLAIN).attribute(x, additional_forward_args=-3.0)
    torch.testing.assert_close(ours.sum(1), theirs.detach().sum(1), rtol=1e-10, atol=1e-14)


class Maps(nn.Module):
    """A model with an output of more dimensions: (B, 3, 2)."""

    def __init__(self) -> None:
        super().__init__()
        self.model = convolutional()

    def forward(self, x):
        return self.model(x).reshape(-1, 3, 2)


@pytest.mark.parametrize("target", [(1, 1), [(0, 1), (2, 0)]])
def test_places_in_an_output_of_more_dimensions(target):
    model, x = Maps().eval(), pictures(32)
    theirs = InputXGradient(model).attribute(x.clone().requires_grad_(), target=target).detach()
    ours = LibraAttribution(model, **PLAIN).attribute(x, target=target)
    torch.testing.assert_close(ours.sum(1), theirs.sum(1), rtol=1e-10, atol=1e-14)


def test_what_the_library_takes_is_taken():
    model, x = convolutional(), pictures(32)
    attribution = LibraAttribution(model, **PLAIN)
    of = {t: attribution.attribute(x, target=t) for t in (1, 4)}
    contrast = attribution.attribute(x, target=Contrast(1, 4))
    torch.testing.assert_close(contrast, of[1] - of[4], rtol=1e-9, atol=1e-13)
    likely = LibraAttribution(model, **PLAIN, output="probability").attribute(x, target=[1, 4])
    e = explain(model, x, [1, 4], **PLAIN, output="probability")
    torch.testing.assert_close(likely.sum(1), e.map, rtol=1e-12, atol=1e-16)


def test_captums_metrics_take_it():
    """The same picture has the same map."""
    still = LibraAttribution(convolutional(), **PLAIN).attribute
    score = sensitivity_max(still, pictures(32), lambda x: x, n_perturb_samples=2, target=3)
    assert score.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("inputs", "target", "says", "error"),
    [
        (pictures(32), None, "target= is needed: each image's output has 6 entries.", TargetError),
        (pictures(32), 6, "target (6,) is out of range: each image's output is (6,)", TargetError),
        (pictures(32), (1, 1), "target (1, 1) has 2 indices, and each image's", TargetError),
        (pictures(32), [1, 2, 3], "3 targets were given for 2 images", TargetError),
        (pictures(32), torch.tensor([1.0]), "must be an integer, not torch.float32", TargetError),
        ((pictures(32), pictures(32)), 0, "pass the others as additional_forward", InputError),
    ],
)
def test_wrong_input_is_refused(inputs, target, says, error):
    with pytest.raises(error, match=re.escape(says)):
        LibraAttribution(convolutional(), **PLAIN).attribute(inputs, target=target)


def test_what_is_no_picture_is_refused():
    with pytest.raises(InputError, match=r"\(1, 3, 4\) are no pictures"):
        over_channels(torch.ones(1, 1, 3), torch.ones(1, 3, 4))
