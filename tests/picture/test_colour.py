"""Colours: uniform steps, black for nothing, blends by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from libragrad.errors import InputError
from libragrad.picture import RECIPES, Limits, overlay
from libragrad.picture.colour import blend, colourise, colours, grey, levels, natural_size


def lightness(colours):
    """CIE L* of sRGB bytes."""
    shares = colours / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    y = linear @ np.array([0.2126, 0.7152, 0.0722])
    return np.where(y <= 216 / 24389, y * 24389 / 27, 116 * np.cbrt(y) - 16)


def test_one_sided_colours_become_evenly_lighter():
    steps = np.diff(lightness(colours(RECIPES["paper"]).astype(float))[16::16])
    assert steps.min() > 5
    assert steps.max() < 1.4 * steps.min()


def test_signed_colours_are_black_in_the_middle_and_light_at_both_ends():
    light = lightness(colours(RECIPES["signed"]).astype(float))
    assert light[128] < light.min() + 0.5 < 5
    assert (np.diff(light[:129:16]) < 0).all()
    assert (np.diff(light[128::16]) > 0).all()
    assert min(light[0], light[-1]) > 70
    assert colours(RECIPES["signed"])[0].argmax() == 2  # against is blue
    assert colours(RECIPES["signed"])[-1].argmax() == 0  # for is red


def test_positions_take_256_levels():
    assert levels(torch.tensor([0.0, 1 / 256, 255 / 256, 1.0])).tolist() == [0, 1, 255, 255]
    pixels = colourise(torch.tensor([[0.0, 1.0]]), RECIPES["paper"])
    assert pixels.tolist() == [colours(RECIPES["paper"])[[0, 255]].tolist()]


def test_a_golden_overlay():
    picture = np.array([[[100, 100, 100], [200, 200, 200]]], np.uint8)
    mixed = overlay(torch.tensor([[0.0, 1.0]]), picture, opacity=0.5, ends=Limits(0.0, 1.0))
    first, last = colours(RECIPES["paper"])[[0, 255]].astype(float)
    expected = np.stack([0.5 * first + 50, 0.5 * last + 100]).round()
    assert mixed.tolist() == [expected.astype(int).tolist()]


def test_opacity_goes_from_the_grey_picture_to_the_colours_alone():
    picture = np.random.default_rng(0).integers(0, 256, (6, 8, 3), np.uint8)
    attribution = torch.rand(3, 4)
    assert np.array_equal(overlay(attribution, picture, opacity=0), grey(picture))
    assert np.array_equal(
        overlay(attribution, picture, opacity=1),
        overlay(attribution, np.zeros_like(picture), opacity=1),
    )
    with pytest.raises(InputError, match="opacity is a share between 0 and 1; got 1"):
        blend(picture, picture, 1.5)


@pytest.mark.parametrize(
    ("patches", "size"), [((14, 14), (224, 224)), ((300, 200), (300, 200)), ((1, 3), (75, 225))]
)
def test_without_a_picture_a_patch_is_a_whole_number_of_pixels(patches, size):
    assert natural_size(torch.zeros(patches)) == size
    assert overlay(torch.rand(patches), None).shape == (*size, 3)
