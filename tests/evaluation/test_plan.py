"""Addresses name all that made a piece of work; plans share what can be shared."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace

import pytest

from libragrad.evaluation import Cell
from libragrad.evaluation.plan import make_plan, remaining
from tests.evaluation.linear_bench import LinearBench

CELL = Cell("m", "d", "genatt", "deletion", samples=10)


def addresses(cells=(CELL,), bench=None, **options):
    return {shard.address for shard in make_plan(cells, bench or LinearBench(), **options)}


VERSIONS = dict(LinearBench().versions)


@pytest.mark.parametrize("changed", [*VERSIONS, "timm"])
def test_another_version_or_other_weights_are_other_work(changed):
    other = LinearBench(versions={**VERSIONS, changed: "other"})
    assert addresses().isdisjoint(addresses(bench=other))


@pytest.mark.parametrize(
    "field", ["model", "dataset", "method", "metric", "preset", "path", "profile", "output"]
)
def test_another_cell_is_other_work(field):
    assert addresses().isdisjoint(addresses([Cell(**{**asdict(CELL), field: "other"})]))


def test_other_images_are_other_work_and_the_same_are_the_same():
    assert addresses().isdisjoint(addresses([replace(CELL, seed=7)]))
    assert addresses(shard_images=5) < addresses([replace(CELL, samples=20)], shard_images=5)


def test_an_address_is_the_same_everywhere():
    assert addresses() == {"4ed46b930d75b51cb121a27bdc2006cdffb5f4c6918c066a38d981e71c7658ff"}


def test_cells_of_one_sample_share_shards():
    cells = [
        Cell(model, dataset, method, "deletion", seed=seed, samples=12)
        for model, dataset, method, seed in itertools.product("ab", "cd", "ef", (1, 2))
    ]
    plan = make_plan(cells, LinearBench(), shard_images=5)
    assert len(plan) == 8 * 3
    for shard in plan:
        assert {cell.method for cell in shard.cells} == {"e", "f"}
        assert len({(cell.model, cell.dataset, cell.seed) for cell in shard.cells}) == 1
    assert [len(shard.records) for shard in plan[:3]] == [5, 5, 2]
    records = [record for shard in plan[:3] for record in shard.records]
    assert records == LinearBench().records("c", 12, 1)


def test_a_cell_that_is_named_twice_is_planned_once():
    assert addresses([CELL, CELL]) == addresses([CELL])


def test_what_is_left_of_a_plan_are_its_unfinished_items():
    plan = make_plan([CELL, replace(CELL, method="attcat")], LinearBench(), shard_images=5)
    first, second = plan
    assert remaining(plan, []) == plan
    assert remaining(plan, first.items) == (second,)
    (half, whole) = remaining(plan, first.items[:1])
    assert (half.cells, whole) == (first.cells[1:], second)
    assert half.items == first.items[1:]


def test_a_manifest_must_name_the_versions_of_libragrad_and_torch():
    with pytest.raises(ValueError, match="manifest does not say the version of torch"):
        make_plan([CELL], LinearBench(versions={"libragrad": "1"}))
