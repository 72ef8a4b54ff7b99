"""Every row of the table keeps the same contract; its cases are the best and the worst input."""

from __future__ import annotations

import inspect
import math
from dataclasses import FrozenInstanceError, replace

import pytest
import torch

from libragrad.metrics import METRICS, Estimate, find_metric


def curve(first, rest):
    return torch.tensor([[first] + 9 * [rest]], dtype=torch.float64)


def row(*values):
    return torch.tensor([values], dtype=torch.float64)


MASK = torch.tensor([[True, False, False]])
FALLS, STANDS, FAILS, WAKES = curve(1.0, 0.0), curve(1.0, 1.0), curve(0.0, 0.0), curve(0.0, 1.0)
DROPS, KEEPS, RISES = curve(0.0, 1.0), curve(0.0, 0.0), curve(0.0, -1.0)

# name: (worst input, best input); their values are the ends of the range, unless they are infinite.
CASES = {
    "mif_accuracy": ((STANDS,), (FAILS,)),
    "mif_aopc": ((RISES,), (DROPS,)),
    "lif_accuracy": ((FAILS,), (STANDS,)),
    "lif_aopc": ((DROPS,), (RISES,)),
    "srg_accuracy": ((WAKES, FAILS), (FALLS, STANDS)),
    "srg_aopc": ((KEEPS, DROPS), (DROPS, KEEPS)),
    "completeness_error": (
        (row(1.0, 9.0), torch.tensor([3.0])),
        (row(1.0, 2.0), torch.tensor([3.0])),
    ),
    "relative_completeness_error": (
        (row(1.0, 9.0), torch.tensor([0.0])),
        (row(1.0, 2.0), torch.tensor([3.0])),
    ),
    "average_precision": ((row(0.0, 1.0, 2.0), MASK), (row(2.0, 1.0, 0.0), MASK)),
    "pointing_game": ((row(0.0, 1.0, 2.0), MASK), (row(2.0, 1.0, 0.0), MASK)),
    "mass_accuracy": ((row(0.0, 1.0, 2.0), MASK), (row(2.0, 0.0, 0.0), MASK)),
}
UNREACHED = {"completeness_error": 7.0, "average_precision": 1 / 3}
"""Worst values that are not the end of the range: 7 is not ∞, and an object is not vanishing."""


def test_every_metric_has_its_case():
    assert list(CASES) == list(METRICS)


@pytest.mark.parametrize("name", METRICS)
class TestContract:
    def test_the_range_is_reached(self, name):
        metric = METRICS[name]
        worst, best = (metric.per_image(*case).item() for case in CASES[name])
        low, high = metric.range if metric.higher_is_better else metric.range[::-1]
        assert best == pytest.approx(high, abs=1e-15)
        assert worst == pytest.approx(UNREACHED.get(name, low), abs=1e-15)
        assert metric.better(best, worst)
        assert not metric.better(worst, best)
        assert not metric.better(best, best)

    def test_a_batch_gives_what_its_images_give(self, name):
        metric = METRICS[name]
        worst, best = CASES[name]
        batch = [torch.cat(pair) for pair in zip(worst, best, strict=True)]
        together = metric.per_image(*batch)
        assert together.shape == (2,)
        assert together.tolist() == [metric.per_image(*case).item() for case in (worst, best)]

    def test_inputs_keep_their_bits_and_numbers_are_float64(self, name):
        metric = METRICS[name]
        inputs = [x.float() if x.is_floating_point() else x for x in CASES[name][1]]
        before = [x.clone() for x in inputs]
        assert metric.per_image(*inputs).dtype == torch.float64
        assert all(map(torch.equal, before, inputs))

    def test_it_names_its_inputs(self, name):
        metric = METRICS[name]
        required = [
            p.name
            for p in inspect.signature(metric.per_image).parameters.values()
            if p.default is p.empty
        ]
        assert required == list(metric.takes)

    def test_it_says_what_it_is(self, name):
        metric = METRICS[name]
        assert metric.name == name == metric.per_image.__name__
        assert metric.per_image.__doc__ is not None
        direction = "higher is better" if metric.higher_is_better else "lower is better"
        assert direction in metric.per_image.__doc__
        assert ">>>" in metric.per_image.__doc__
        assert metric.summary
        assert "20" in metric.citation
        assert "arXiv:" in metric.citation
        assert metric.scale == (100.0 if metric.unit == "%" else 1.0)


def test_the_aggregate_is_in_the_unit_that_is_shown():
    shares = torch.tensor([0.0, 0.5])
    assert METRICS["average_precision"].aggregate(shares) == Estimate(25.0, 25.0, 2)
    assert METRICS["completeness_error"].aggregate(shares) == Estimate(0.25, 0.25, 2)


def test_rows_pooled_from_shards_are_the_rows_of_one_run():
    rows = torch.rand(100, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    shards = [rows[60:], rows[:10], rows[10:60]]
    assert METRICS["srg_aopc"].aggregate(torch.cat(shards)) == METRICS["srg_aopc"].aggregate(rows)


def test_a_wrong_name_is_answered_with_the_right_one():
    assert find_metric("srg_aopc") is METRICS["srg_aopc"]
    with pytest.raises(ValueError, match="no metric 'srg_aocp'; did you mean 'srg_aopc'"):
        find_metric("srg_aocp")
    with pytest.raises(ValueError, match=r"no metric 'x'; there are mif_accuracy, mif_aopc, lif_"):
        find_metric("x")


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        METRICS["mine"] = METRICS["mif_aopc"]  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        METRICS["mif_aopc"].scale = 1.0  # type: ignore[misc]


def test_a_metric_that_is_wrong_by_a_thousandth_fails_the_contract():
    """The test of the test: the range check above is exact."""
    right = METRICS["mif_accuracy"]
    wrong = replace(right, per_image=lambda most: right.per_image(most) * 1.001)
    best = wrong.per_image(*CASES["mif_accuracy"][1]).item()
    assert best != pytest.approx(right.range[1], abs=1e-15)
    assert math.isclose(best, right.range[1], rel_tol=2e-3)
