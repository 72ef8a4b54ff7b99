"""Each kind of ± is what it is called, and the table says which one it shows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from libragrad.evaluation import Score, table
from libragrad.evaluation.query import measured
from libragrad.evaluation.store import Store
from libragrad.evaluation.tables import plan_note
from libragrad.evaluation.uncertainty import UNCERTAINTIES
from libragrad.metrics import (
    accuracy_variance,
    area_upper_bound,
    bootstrap_interval,
    fold_variance,
    srg_upper_bound,
    standard_error,
)
from tests.evaluation.runs import demo, go

POINTS = (0.0, 0.25, 0.5, 0.75)
OF = {name: kind.of for name, kind in UNCERTAINTIES.items()}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    go(out, recipe=demo(["input_x_grad"], ["a"]))
    return out


@pytest.fixture(scope="module")
def rows(results):
    store = Store(results)
    parts = measured(store, plan_note(store, None).items)
    return {(part.cell.metric, part.cell.preset): part.rows for part in parts}


def test_the_standard_error_is_that_of_the_mean(rows):
    found = rows["deletion", "Libra"]
    score = Score("mif_accuracy")
    assert OF["standard"](score, found) == pytest.approx(standard_error(score.per_image(found)))


def test_the_bootstrap_interval_is_halved(rows):
    found = rows["deletion", "Libra"]
    low, high = bootstrap_interval(Score("srg_aopc").per_image(found))
    assert OF["bootstrap"](Score("srg_aopc"), found) == (high - low) / 2


def test_the_bound_is_that_of_the_paper(rows):
    found = rows["deletion", "Standard"]
    correct = np.array(
        [[k == row["label"] for k in row["most"]["prediction"]] for row in found.to_pylist()]
    )
    share = correct.mean(axis=0)
    variance = share * (1 - share) / len(correct)
    known = math.sqrt(np.trapezoid(variance, POINTS))
    assert OF["bound"](Score("mif_accuracy"), found) == pytest.approx(known)
    most, least = (Score("srg_aopc").curve(found, first) for first in ("most", "least"))
    bounds = [area_upper_bound(fold_variance(curves), POINTS) for curves in (most, least)]
    assert OF["bound"](Score("srg_aopc"), found) == srg_upper_bound(*bounds)
    curves = Score("lif_accuracy", "predicted").curve(found, "least")
    assert OF["bound"](Score("lif_accuracy", "predicted"), found) == area_upper_bound(
        accuracy_variance(curves), POINTS
    )


def test_where_there_is_no_bound_there_is_no_number(rows):
    found = rows["deletion", "Standard"]
    assert math.isnan(OF["bound"](Score("mif_accuracy", area="mean"), found))
    assert math.isnan(OF["bound"](Score("mif_aopc"), found.slice(0, 9)))
    assert math.isfinite(OF["bound"](Score("mif_aopc"), found.slice(0, 10)))


def test_what_has_no_curve_has_its_standard_error_as_bound(rows):
    found = rows["completeness", "Standard"]
    score = Score("completeness_error")
    assert OF["bound"](score, found) == OF["standard"](score, found)


@pytest.mark.parametrize("name", UNCERTAINTIES)
def test_the_table_says_what_its_error_is(results, name):
    assert table(results, uncertainty=name).splitlines()[-1] == UNCERTAINTIES[name].summary


def test_an_unknown_kind_is_refused(results):
    with pytest.raises(ValueError, match="no uncertainty 'bounds'; did you mean 'bound'"):
        table(results, uncertainty="bounds")
