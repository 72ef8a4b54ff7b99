"""MIF, LIF and SRG where the answer is known: f = Σx, random rankings, the printed tables."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch

from libragrad.metrics import (
    CHANCE_SRG,
    FRACTIONS,
    accuracy_curve,
    aopc_curve,
    keep_sets,
    lif_accuracy,
    lif_aopc,
    mean_area,
    mif_accuracy,
    mif_aopc,
    predicted_label,
    removed_fractions,
    srg_accuracy,
    srg_aopc,
)


def logits_of_sum(x, bias, attribution, first, fractions=FRACTIONS):
    """A model with the two logits (Σ x, bias) sees the kept tokens of `x`, (images, tokens)."""

    def model(tokens):
        y = tokens.sum(dim=1)
        return torch.stack([y, torch.full_like(y, bias)], dim=1)

    kept = keep_sets(attribution, first, fractions)
    return model(x), torch.stack([model(x.gather(1, k)) for k in kept], dim=1)


def curves_of_sum(curve, x, bias, attribution, fractions=FRACTIONS):
    """The MIF and LIF curves of that model for its first class."""
    label = torch.zeros(len(x), dtype=torch.long)
    return [
        curve(*logits_of_sum(x, bias, attribution.expand_as(x), first, fractions), label)
        for first in ("most", "least")
    ]


def test_one_decisive_token_gives_the_perfect_curve():
    """f = Σx with one token that matters: MIF drops at the first step, LIF never does."""
    x = torch.zeros(1, 20, dtype=torch.float64)
    x[0, 7] = 2000.0
    most, least = curves_of_sum(accuracy_curve, x, 1000.0, x)
    assert most.tolist() == [[1.0] + 9 * [0.0]]
    assert least.tolist() == [10 * [1.0]]
    assert mif_accuracy(most).item() == pytest.approx(0.95, abs=1e-15)
    assert lif_accuracy(least).item() == pytest.approx(0.9, abs=1e-15)
    assert srg_accuracy(most, least).item() == pytest.approx(0.925, abs=1e-15)

    most, least = curves_of_sum(aopc_curve, x, 1000.0, x)
    assert most.tolist() == [[0.0] + 9 * [1.0]]
    assert least.tolist() == [10 * [0.0]]
    assert mif_aopc(most).item() == pytest.approx(0.85, abs=1e-15)
    assert lif_aopc(least).item() == 1.0
    assert srg_aopc(most, least).item() == pytest.approx(0.925, abs=1e-15)


def test_the_curve_of_a_sum_in_closed_form():
    """p = σ(Σ of the kept x − bias); with x sorted, MIF keeps the smallest and LIF the largest."""
    x = torch.arange(1.0, 11.0, dtype=torch.float64)[None] / 10
    most, least = curves_of_sum(aopc_curve, x, 2.0, x)
    for removed in range(10):
        smallest = sum(k / 10 for k in range(1, 11 - removed))
        largest = sum(k / 10 for k in range(removed + 1, 11))
        full = torch.tensor(5.5 - 2.0, dtype=torch.float64).sigmoid()
        for kept, curve in ((smallest, most), (largest, least)):
            p = torch.tensor(kept - 2.0, dtype=torch.float64).sigmoid()
            assert curve[0, removed].item() == pytest.approx((full - p).item(), abs=1e-14)


FIFTHS = (0.2, 0.4, 0.6, 0.8)
ALL_RANKINGS = torch.tensor(list(permutations(range(5))), dtype=torch.float64)
X = torch.tensor([[0.3, -0.8, 1.7, 0.1, 0.9]], dtype=torch.float64)


@pytest.mark.parametrize(
    ("curve", "mif", "lif", "srg"),
    [
        (accuracy_curve, mif_accuracy, lif_accuracy, srg_accuracy),
        (aopc_curve, mif_aopc, lif_aopc, srg_aopc),
    ],
)
class TestAllRankingsOfFiveTokens:
    """What every possible map of five tokens scores on f = Σx."""

    removed = removed_fractions(FIFTHS)

    def test_no_ranking_beats_x_itself(self, curve, mif, lif, srg):
        best_most, best_least = curves_of_sum(curve, X, 1.0, X, FIFTHS)
        every = X.expand(len(ALL_RANKINGS), -1)
        most, least = curves_of_sum(curve, every, 1.0, ALL_RANKINGS, FIFTHS)
        for one, best in (
            (mif(most, self.removed), mif(best_most, self.removed)),
            (lif(least, self.removed), lif(best_least, self.removed)),
            (srg(most, least, self.removed), srg(best_most, best_least, self.removed)),
        ):
            assert one.max().item() == pytest.approx(best.item(), abs=1e-15)
            assert one.min() < best - 0.05

    @pytest.mark.parametrize("area", [None, mean_area])
    def test_a_random_ranking_expects_one_half(self, curve, mif, lif, srg, area):
        every = X.expand(len(ALL_RANKINGS), -1)
        most, least = curves_of_sum(curve, every, 1.0, ALL_RANKINGS, FIFTHS)
        arguments = (self.removed,) if area is None else (self.removed, area)
        mean = srg(most, least, *arguments).mean().item()
        assert mean == pytest.approx(CHANCE_SRG, abs=1e-14)

    def test_the_opposite_map_exchanges_mif_and_lif(self, curve, mif, lif, srg):
        most, least = curves_of_sum(curve, X, 1.0, X, FIFTHS)
        opposite_most, opposite_least = curves_of_sum(curve, X, 1.0, -X, FIFTHS)
        assert torch.equal(most, opposite_least)
        assert torch.equal(least, opposite_most)
        total = srg(most, least, self.removed) + srg(opposite_most, opposite_least, self.removed)
        assert total.item() == pytest.approx(1.0, abs=1e-15)

    def test_srg_is_the_mean_of_the_turned_two(self, curve, mif, lif, srg):
        most, least = curves_of_sum(curve, X, 1.0, X, FIFTHS)
        mean = (mif(most, self.removed) + lif(least, self.removed)) / 2
        assert torch.equal(srg(most, least, self.removed), mean)


@pytest.mark.parametrize("srg", [srg_accuracy, srg_aopc])
def test_curves_of_different_images_are_refused(srg):
    with pytest.raises(ValueError, match="must start from the same unmasked images"):
        srg(torch.zeros(2, 10), torch.ones(2, 10))
    with pytest.raises(ValueError, match=r"got shapes \(2, 10\) and \(1, 10\)"):
        srg(torch.zeros(2, 10), torch.zeros(1, 10))


def test_ground_truth_and_predicted_label_differ_where_the_model_errs():
    """f = Σx < bias: the model predicts class 1 throughout, the truth is class 0."""
    x = torch.full((1, 10), 0.01, dtype=torch.float64)
    unmasked, masked = logits_of_sum(x, 1.0, x, "most")
    truth = accuracy_curve(unmasked, masked, torch.tensor([0]))
    predicted = accuracy_curve(unmasked, masked, predicted_label(unmasked))
    assert mif_accuracy(truth).item() == 1.0
    assert mif_accuracy(predicted).item() == pytest.approx(0.1, abs=1e-15)


# Rows of the paper's ViT-T table (per model, ImageNet): MIF, LIF, SRG as printed.
PRINTED = [
    ("Random, gt, accuracy", 50.1, 49.2, 49.6),
    ("Random, gt, AOPC", 17.0, 82.8, 49.9),
    ("Random, predicted, accuracy", 40.5, 58.6, 49.6),
    ("Random, predicted, AOPC", 20.7, 79.0, 49.9),
    ("Libra FullGrad+, gt, accuracy", 84.2, 70.2, 77.2),
    ("Libra FullGrad+, gt, AOPC", 45.6, 101.8, 73.7),
    ("Libra FullGrad+, predicted, accuracy", 81.7, 78.8, 80.3),
    ("Libra FullGrad+, predicted, AOPC", 52.7, 99.2, 76.0),
]


def curve_of_area(points):
    """0 at point 0, then constant, so that its area is `points` hundredths."""
    return torch.tensor([[0.0] + 9 * [points / 85]], dtype=torch.float64)


@pytest.mark.parametrize(("row", "mif", "lif", "srg"), PRINTED)
def test_the_signs_are_those_of_the_printed_tables(row, mif, lif, srg):
    """From areas that mean the printed MIF and LIF follows the printed SRG, to its last digit."""
    if "accuracy" in row:
        most, least = curve_of_area(100 - mif), curve_of_area(lif)
        metrics = mif_accuracy, lif_accuracy, srg_accuracy
    else:
        most, least = curve_of_area(mif), curve_of_area(100 - lif)
        metrics = mif_aopc, lif_aopc, srg_aopc
    assert 100 * metrics[0](most).item() == pytest.approx(mif, abs=1e-10)
    assert 100 * metrics[1](least).item() == pytest.approx(lif, abs=1e-10)
    assert 100 * metrics[2](most, least).item() == pytest.approx(srg, abs=0.0501)
