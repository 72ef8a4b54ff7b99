"""Each step of each recipe, where the answer is known."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from libragrad.errors import InputError
from libragrad.picture import RECIPES, Limits, find_recipe, limits, positions

PAPER, SIGNED, ABSOLUTE, RAW = (RECIPES[name] for name in ("paper", "signed", "absolute", "raw"))


def slow_percentile(values, share):
    """Linear between the two nearest of the sorted values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def slow_cubic(t):
    """The convolution kernel of Keys (1981) with a = −3/4."""
    t, a = abs(t), -0.75
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    if t < 2:
        return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a
    return 0.0


def slow_bicubic(values, height, width):
    """Every pixel a weighted sum of the 4 × 4 patches around its centre, borders repeated."""
    rows, columns = len(values), len(values[0])
    sized = []
    for i in range(height):
        y = (i + 0.5) * rows / height - 0.5
        line = []
        for j in range(width):
            x = (j + 0.5) * columns / width - 0.5
            total = 0.0
            for r in range(math.floor(y) - 1, math.floor(y) + 3):
                for c in range(math.floor(x) - 1, math.floor(x) + 3):
                    near = values[min(max(r, 0), rows - 1)][min(max(c, 0), columns - 1)]
                    total += slow_cubic(y - r) * slow_cubic(x - c) * near
            line.append(total)
        sized.append(line)
    return sized


def test_the_papers_recipe_step_by_step():
    attribution = torch.randn(5, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    rectified = [[max(0.0, value) for value in row] for row in attribution.tolist()]
    top = slow_percentile([value for row in rectified for value in row], 0.99)
    divided = [[value / top for value in row] for row in rectified]
    clamped = torch.tensor(slow_bicubic(divided, 20, 21)).double().clamp(0, 1)
    torch.testing.assert_close(
        positions(attribution[None], (20, 21))[0], clamped, rtol=0, atol=1e-6
    )


def test_the_resize_is_torchs_bicubic():
    attribution = torch.rand(2, 3, 4, dtype=torch.float64)
    sized = F.interpolate(attribution[:, None], size=(12, 16), mode="bicubic")[:, 0]
    ours = positions(attribution, (12, 16), PAPER, Limits(0.0, 1.0))
    assert torch.equal(ours, sized.clamp(0, 1))


def test_bicubic_overshoots_and_is_clamped_at_both_ends():
    step = torch.tensor([[[0.0, 0.0, 1.0, 1.0]]], dtype=torch.float64)
    free = F.interpolate(step[:, None], size=(1, 16), mode="bicubic")
    assert float(free.min()) < 0
    assert float(free.max()) > 1
    ours = positions(step, (1, 16), PAPER, Limits(0.0, 1.0))
    assert (float(ours.min()), float(ours.max())) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (PAPER, Limits(0.0, 98.0)),
        (SIGNED, Limits(-196.0, 196.0)),
        (ABSOLUTE, Limits(0.0, 196.0)),
        (RAW, Limits(-200.0, 100.0)),
    ],
)
def test_limits_of_a_known_line(recipe, expected):
    # Of these 201 values, the 99th percentile is the third from the end.
    line = torch.cat([torch.arange(-200.0, 0.0, 2.0), torch.arange(0.0, 101.0)])
    assert limits(line, recipe) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("paper", [0.0, 0.0, 0.5, 1.0]),
        ("signed", [0.0, 0.5, 0.75, 1.0]),
        ("absolute", [1.0, 0.0, 0.5, 1.0]),
        ("raw", [0.0, 2 / 3, 5 / 6, 1.0]),
    ],
)
def test_golden_positions(name, expected):
    attribution = torch.tensor([[[-4.0, 0.0], [1.0, 2.0]]])
    ends = Limits(-4.0, 2.0) if name == "raw" else Limits(-2.0 * (name == "signed"), 2.0)
    place = positions(attribution, (2, 2), find_recipe(name), ends)
    torch.testing.assert_close(place.flatten(), torch.tensor(expected).double())


def test_raw_keeps_the_patches():
    place = positions(torch.tensor([[[0.0, 1.0]]]), (2, 4), RAW)
    assert place.tolist() == [[[0.0, 0.0, 1.0, 1.0]] * 2]


def test_a_batch_is_its_maps_one_by_one():
    batch = torch.randn(3, 4, 5)
    together = positions(batch, (8, 10))
    assert torch.equal(together, torch.cat([positions(one[None], (8, 10)) for one in batch]))


def test_a_map_with_fewer_positive_patches_than_one_in_a_hundred_divides_by_its_maximum():
    attribution = torch.zeros(1, 20, 20)
    attribution[0, 3, 4] = 8.0
    assert limits(attribution) == (0.0, 8.0)


@pytest.mark.parametrize(("name", "middle"), [("paper", 0.0), ("signed", 0.5), ("raw", 0.0)])
def test_a_map_of_zeros_has_the_colour_of_nothing(name, middle):
    place = positions(torch.zeros(1, 2, 2), (4, 4), find_recipe(name))
    assert place.unique().tolist() == [middle]


def test_half_precision_is_widened():
    attribution = torch.randn(1, 6, 6).to(torch.bfloat16)
    assert torch.equal(positions(attribution, (9, 9)), positions(attribution.double(), (9, 9)))


def test_the_percentile_of_a_large_sheet():
    # More than torch.quantile takes.
    assert limits(torch.ones(1 << 24 | 1)).high == 1.0


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="2 of the map's 4 values are NaN or infinite"):
        limits(torch.tensor([math.nan, math.inf, 0.0, 1.0]))
    with pytest.raises(InputError, match=r"the map is empty: its shape is \(0, 4\)"):
        limits(torch.zeros(0, 4))
    with pytest.raises(InputError, match=r"expected maps of shape \(B, H, W\); got \(4, 4\)"):
        positions(torch.zeros(4, 4), (8, 8))
    with pytest.raises(InputError, match="no recipe 'absolut'; did you mean 'absolute'"):
        find_recipe("absolut")
