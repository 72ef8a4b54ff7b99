"""The numbers of docs/results.md are those that the library gives today."""

from __future__ import annotations

import re

import pytest
import torch

from docs import results
from libragrad.explaining.explainer import Explainer
from libragrad.methods.table import METHODS
from libragrad.models import mosaic


@pytest.fixture(scope="module")
def page():
    return results.PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def asked():
    return results.questions(mosaic.load(), mosaic.mosaic_images())


def part(page, name):
    found = re.search(
        f"<!-- measured: {name} -->\n(.*?)\n<!-- /measured: {name} -->", page, re.DOTALL
    )
    assert found is not None
    return found[1]


def line(page, name, title):
    """The cells of a row of a table, without their bold."""
    for row in part(page, name).splitlines():
        head, *cells = [cell.strip(" *") for cell in row.strip("|").split("|")]
        if head == title:
            return cells
    raise AssertionError(f"no row {title!r} in {name!r}: run `make results`")


def test_the_accuracy_is_that_of_the_model(page):
    measured = mosaic.measure(mosaic.load(), mosaic.mosaic_images())
    assert part(page, "accuracy").strip() == str(measured)


def test_every_method_has_its_row(page):
    for key in results.ANY_BACKWARD:
        for truth in results.TRUTHS:
            assert len(line(page, truth, METHODS[key].title)) == 6
    for key in results.ONE_BACKWARD:
        assert len(line(page, "one backward", METHODS[key].title)) == 4


def test_what_the_page_says_of_its_numbers(page):
    rows = [
        [cell.strip() for cell in row.strip("|").split("|")][1:]
        for truth in results.TRUTHS
        for row in part(page, truth).strip().splitlines()[2:]
    ]
    plain = [row[column] for row in rows for column in (0, 3)]
    libra = [row[column] for row in rows for column in (1, 4)]
    better = sum(cell.startswith("**") for cell in libra)
    assert f"{better} of the {len(libra)} comparisons are won by Libra" in " ".join(page.split())
    assert not any(cell.startswith("**") for cell in plain)
    assert all(row[4].startswith("**") for row in rows[: len(results.ANY_BACKWARD)])
    assert f"every one of the {len(results.ANY_BACKWARD)} gradient methods" in page


def test_the_questions_are_the_found_classes(page, asked):
    assert part(page, "count").strip() == results.counted(asked)
    assert len(asked.mosaics.unique()) == results.MOSAICS
    data = mosaic.mosaic_images()
    for row, number in ((0, int(asked.mosaics[0])), (-1, int(asked.mosaics[-1]))):
        label = int(asked.classes[row])
        assert data.labels[number, label]
        assert asked.masks["cell"][row].sum() == 32 * 32
        assert (asked.masks["garment"][row] <= asked.masks["cell"][row]).all()


def test_a_map_of_the_truth_is_perfect_and_its_opposite_is_not(asked):
    cell = asked.masks["cell"].double()
    perfect, wrong = results.scores(cell, asked), results.scores(-cell, asked)
    assert perfect["AP, cell"].tolist() == [1.0] * results.MOSAICS
    assert perfect["pointing, cell"].tolist() == [1.0] * results.MOSAICS
    assert wrong["pointing, cell"].tolist() == [0.0] * results.MOSAICS
    constant = results.scores(torch.zeros_like(cell), asked)
    assert constant["pointing, cell"].tolist() == [0.25] * results.MOSAICS


@pytest.mark.slow
def test_a_row_of_the_page_is_measured_again(page, asked):
    key = "input_x_grad"
    found = results.measured(Explainer(mosaic.load()), asked, [key], *results.BACKWARDS["Libra"])
    stated = line(page, "cell", METHODS[key].title)[1::3]  # the column of Libra for each metric
    for metric, words in zip(results.METRICS, stated, strict=True):
        mean = 100 * float(found[key][f"{metric}, cell"].mean())
        assert float(words.strip("*").split(" ± ")[0]) == pytest.approx(mean, abs=0.06)


def test_a_page_without_a_place_is_refused():
    with pytest.raises(ValueError, match="the page has no place for 'count'"):
        results.replaced("no places here", {"count": "1"})
