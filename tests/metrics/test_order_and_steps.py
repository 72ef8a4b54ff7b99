"""Which tokens go first, and which stay."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from libragrad.metrics import FRACTIONS, REMOVED, keep_sets, kept_tokens, order, removed_fractions

# Few distinct values, so that ties are the rule.
TIED = st.integers(1, 30).flatmap(
    lambda n: st.lists(st.lists(st.integers(-2, 2), min_size=n, max_size=n), min_size=1, max_size=3)
)


@settings(deadline=None, max_examples=100)
@given(TIED)
def test_order_is_by_value_then_by_place(rows):
    most = [[i for _, i in sorted((-value, i) for i, value in enumerate(row))] for row in rows]
    attribution = torch.tensor(rows, dtype=torch.float64)
    assert order(attribution, "most").tolist() == most
    assert order(attribution, "least").tolist() == [row[::-1] for row in most]


@settings(deadline=None, max_examples=100)
@given(TIED, st.integers(0, 3))
def test_what_mif_removes_is_what_lif_keeps_at_the_complement(rows, prefix):
    attribution = torch.tensor(rows, dtype=torch.float32)
    tokens = attribution.shape[1]
    mif = keep_sets(attribution, "most", prefix=prefix)
    lif = keep_sets(attribution, "least", prefix=prefix)
    for most, least in zip(mif, reversed(lif), strict=True):
        for kept_most, kept_least in zip(most.tolist(), least.tolist(), strict=True):
            assert kept_most[:prefix] == kept_least[:prefix] == list(range(prefix))
            assert sorted(kept_most[prefix:] + kept_least[prefix:]) == [
                prefix + token for token in range(tokens)
            ]
            assert kept_most == sorted(kept_most)
            assert kept_least == sorted(kept_least)


@pytest.mark.parametrize("first", ["most", "least"])
def test_a_batch_keeps_what_its_images_keep(first):
    attribution = torch.randn(4, 49, generator=torch.Generator().manual_seed(0))
    batch = keep_sets(attribution, first)
    for image in range(4):
        alone = keep_sets(attribution[image : image + 1], first)
        for together, single in zip(batch, alone, strict=True):
            assert torch.equal(together[image], single[0])


def test_the_paper_counts():
    """⌊0.1 · 196⌋ = 19 go (MIF), ⌊0.9 · 196⌋ = 176 stay (LIF)."""
    assert [196 - kept_tokens(196, f, "most") for f in FRACTIONS] == [
        19, 39, 58, 78, 98, 117, 137, 156, 176,
    ]  # fmt: skip
    assert [kept_tokens(196, f, "least") for f in FRACTIONS] == [
        176, 156, 137, 117, 98, 78, 58, 39, 19,
    ]  # fmt: skip


def test_the_floor_is_that_of_the_tenths():
    for tokens in range(1, 1025):
        for tenth, fraction in enumerate(FRACTIONS, start=1):
            assert kept_tokens(tokens, fraction, "most") == tokens - tenth * tokens // 10
            assert kept_tokens(tokens, fraction, "least") == (10 - tenth) * tokens // 10


def test_on_the_grids_of_models_the_floor_is_that_of_the_floating_product():
    """The paper's code takes int(fraction · tokens); they differ at 90 tokens, on no grid."""
    for side in (7, 8, 14, 16, 24, 27, 32, 37):
        for fraction in FRACTIONS:
            assert side**2 - kept_tokens(side**2, fraction) == int(fraction * side**2)
    assert (int(0.7 * 90), 90 - kept_tokens(90, 0.7)) == (62, 63)


def test_other_fractions():
    assert kept_tokens(100, 0.29) == 71  # int(0.29 * 100) is 28
    assert kept_tokens(3, 1 / 3) == 2
    assert kept_tokens(5, 1.0) == kept_tokens(5, 1.0, "least") == 0
    assert keep_sets(torch.zeros(2, 5), "most", [1.0], prefix=1)[0].tolist() == [[0], [0]]
    assert removed_fractions(FRACTIONS) == REMOVED


@pytest.mark.parametrize("fractions", [[], [0.0, 0.5], [0.5, 0.5], [0.9, 0.1], [0.5, 1.1], [-0.1]])
def test_fractions_that_make_no_curve_are_refused(fractions):
    with pytest.raises(ValueError, match=r"must increase strictly within \(0, 1\]; 0 is not among"):
        keep_sets(torch.zeros(1, 4), "most", fractions)


def test_what_has_no_order_is_refused():
    with pytest.raises(ValueError, match=r"attribution of image\(s\) \[1\] has NaN"):
        order(torch.tensor([[0.0, 1.0], [0.0, torch.nan]]))
    with pytest.raises(ValueError, match=r"must be \(images, tokens\).*got shape \(4,\)"):
        order(torch.zeros(4))
    with pytest.raises(ValueError, match='first must be "most" or "least"; got \'MIF\''):
        order(torch.zeros(1, 4), "MIF")  # type: ignore[arg-type]
