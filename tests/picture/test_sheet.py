"""Sheets: which map goes where, which share a scale, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from libragrad.errors import InputError
from libragrad.picture import RECIPES, before_after, limits, sheet
from libragrad.picture.aside import aside
from tests.picture.explanations import made

TWO = ("zebra", "elephant")
PLAIN, LIBRA = made(TWO, "FullGrad+", seed=1), made(TWO, "Libra FullGrad+", seed=2)


def test_rows_are_methods_and_columns_targets():
    drawn = sheet([PLAIN, LIBRA])
    assert (drawn.rows, drawn.columns) == (("FullGrad+", "Libra FullGrad+"), TWO)
    assert [[(c.method, c.target) for c in row] for row in drawn.cells] == [
        [(method, target) for target in TWO] for method in drawn.rows
    ]
    assert torch.equal(drawn.cells[1][0].map, LIBRA.map[0])


def test_maps_of_one_method_come_together_from_many_explanations():
    parts = [
        made((target,), name, seed=seed)
        for target, seed in (("zebra", 1), ("elephant", 2))
        for name in ("FullGrad+", "IxG")
    ]
    drawn = sheet(parts, deletion=[[[float(i)]] for i in range(4)])
    assert (drawn.rows, drawn.columns) == (("FullGrad+", "IxG"), TWO)
    assert [[cell.deletion for cell in row] for row in drawn.cells] == [
        [(0.0,), (2.0,)],
        [(1.0,), (3.0,)],
    ]
    assert torch.equal(drawn.cells[1][1].map, parts[3].map[0])
    assert len(drawn.limits(RECIPES["paper"])) == 2


def test_a_map_as_fine_as_its_picture_is_of_pixels():
    assert sheet([made(patches=(8, 8), size=(8, 8))]).part == "pixel"
    assert sheet([made(patches=(8, 8), size=(16, 16))]).part == "patch"
    assert sheet([made(patches=(8, 8), size=None)]).part == "patch"


def test_before_and_after_stand_side_by_side_for_each_target():
    drawn = before_after(PLAIN, LIBRA)
    assert (drawn.rows, drawn.columns) == (TWO, ("FullGrad+", "Libra FullGrad+"))
    assert torch.equal(drawn.cells[1][0].map, PLAIN.map[1])


def test_maps_share_the_scale_that_was_asked_for():
    recipe = RECIPES["paper"]
    every = torch.stack([PLAIN.map, LIBRA.map])
    expected = {
        "map": [[limits(one, recipe) for one in method] for method in every],
        "method": [[limits(method, recipe)] * 2 for method in every],
        "all": [[limits(every, recipe)] * 2] * 2,
    }
    for scale, ends in expected.items():
        drawn = sheet([PLAIN, LIBRA], scale=scale)
        found = drawn.limits(recipe)
        assert [[found[cell.scale] for cell in row] for row in drawn.cells] == ends


def test_one_map_is_drawn_by_the_papers_recipe_alone():
    one = made()
    assert list(sheet([one]).limits(RECIPES["paper"]).values()) == [limits(one.map)]


def test_the_picture_is_shown_once_where_it_belongs():
    assert aside(sheet([made(size=None)])) is None
    one = aside(sheet([LIBRA, replace(LIBRA, name="IxG")]))
    assert one is not None
    assert (one.place, len(one.pictures)) == ("left", 1)
    assert LIBRA.pictures is not None
    expected = (LIBRA.pictures[0].permute(1, 2, 0).double() * 255).round()
    assert np.array_equal(one.pictures[0], expected.numpy())

    several = replace(LIBRA, pictures=torch.rand(2, 3, 8, 8))
    other = replace(several, name="FullGrad+")
    above, left = aside(sheet([several, other])), aside(before_after(other, several))
    assert above is not None
    assert left is not None
    assert (above.place, len(above.pictures)) == ("above", 2)
    assert (left.place, len(left.pictures)) == ("left", 2)


def test_each_map_has_its_own_account_and_curve():
    points = [[[0.5, 0.1], [0.4, 0.2]], [[0.5, 0.3], [0.4, 0.1]]]
    drawn = sheet([made(TWO, error=0.02), LIBRA], deletion=points, of="similarity")
    assert [cell.deletion for cell in drawn.every()] == [
        (0.5, 0.1),
        (0.4, 0.2),
        (0.5, 0.3),
        (0.4, 0.1),
    ]
    assert drawn.cells[0][0].account.startswith("98.00 % of the similarity accounted for")


def test_what_makes_no_sheet_is_refused():
    with pytest.raises(InputError, match="there is no explanation to draw"):
        sheet([])
    with pytest.raises(
        InputError, match="FullGrad\\+ explains zebra, elephant and FullGrad\\+ zebra"
    ):
        sheet([LIBRA, made(name="FullGrad+")])
    with pytest.raises(InputError, match=r"both are named 'Libra FullGrad\+'"):
        before_after(LIBRA, LIBRA)
    with pytest.raises(InputError, match="1 lists of curves for 2 explanations"):
        sheet([LIBRA, PLAIN], deletion=[[[1.0], [1.0]]])
    with pytest.raises(InputError, match="no scale 'methods'; did you mean 'method'"):
        sheet([LIBRA], scale="methods")
    with pytest.raises(InputError, match=r"shape \(2, 4, 4\), 1 labels"):
        sheet([replace(LIBRA, labels=("zebra",))])
    with pytest.raises(InputError, match=r"expected 2 pictures of shape \(2, 3, H, W\); got \(3,"):
        sheet([replace(LIBRA, pictures=torch.rand(3, 8, 8))])
    with pytest.raises(InputError, match=r"values in \[0, 1\].*; got 0 to 255"):
        sheet([replace(LIBRA, pictures=torch.rand(2, 3, 8, 8).round() * 255)])
