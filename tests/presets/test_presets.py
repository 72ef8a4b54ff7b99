"""Presets are tables: they print as one, refuse what they do not know, and can be made by hand."""

from __future__ import annotations

import dataclasses

import pytest
import torch
import torch.nn.functional as F

from libragrad import (
    ABLATIONS,
    ALI_LRP,
    ATTN_LRP,
    CP_LRP,
    DECOMPX,
    LIBRA,
    PRESETS,
    STANDARD,
    Preset,
    PresetError,
    Treatment,
    audit,
    balanced,
)
from libragrad.presets import MEANINGS, ROWS
from tests.checks import Operation, draw

OWN, CONSTANT, HALVES = Treatment.OWN, Treatment.CONSTANT, Treatment.HALVES
COUNTED, OMITTED = Treatment.COUNTED, Treatment.OMITTED

TABLES = {
    STANDARD: (OWN, OWN, OWN, OWN, COUNTED),
    LIBRA: (CONSTANT, CONSTANT, CONSTANT, HALVES, COUNTED),
    ALI_LRP: (CONSTANT, CONSTANT, OWN, OWN, COUNTED),
    CP_LRP: (CONSTANT, CONSTANT, CONSTANT, CONSTANT, COUNTED),
    ATTN_LRP: (HALVES, CONSTANT, CONSTANT, HALVES, COUNTED),
    DECOMPX: (CONSTANT, CONSTANT, CONSTANT, OWN, COUNTED),
    ABLATIONS["no attention"]: (OWN, CONSTANT, CONSTANT, HALVES, COUNTED),
    ABLATIONS["no LayerNorm"]: (CONSTANT, OWN, CONSTANT, HALVES, COUNTED),
    ABLATIONS["neither"]: (OWN, OWN, CONSTANT, HALVES, COUNTED),
    ABLATIONS["no activation"]: (CONSTANT, CONSTANT, OWN, HALVES, COUNTED),
    ABLATIONS["no gate"]: (CONSTANT, CONSTANT, CONSTANT, OWN, COUNTED),
    ABLATIONS["no bias"]: (CONSTANT, CONSTANT, CONSTANT, HALVES, OMITTED),
    ABLATIONS["plain"]: (OWN, OWN, OWN, OWN, COUNTED),
}


@pytest.mark.parametrize("preset", TABLES, ids=lambda preset: preset.name)
def test_the_rows(preset):
    assert tuple(getattr(preset, row) for row in ROWS) == TABLES[preset]


def test_every_preset_has_its_rows_tested():
    assert set(TABLES) == {*PRESETS.values(), *ABLATIONS.values()}
    assert list(PRESETS) == ["Standard", "Libra", "AliLRP", "CP-LRP", "AttnLRP", "DecompX"]
    assert list(ABLATIONS) == [
        "no attention",
        "no LayerNorm",
        "neither",
        "no activation",
        "no gate",
        "no bias",
        "plain",
    ]


def test_a_preset_prints_as_a_table():
    assert str(LIBRA) == "\n".join(
        [
            "Libra",
            "  attention     constant      the attention weights are constant: gradient to V alone",
            "  normalisation constant      the denominator (σ, the norm) is constant; "
            "the mean is not",
            "  activation    constant      f(x) = x ⊙ [f(x)/x]const; a gate times a value: "
            "the gate is constant",
            "  self_gating   halves        value ⊙ value: each of n factors gets 1/n of "
            "the gradient",
            "  bias          counted       every additive constant is a term of the account",
        ]
    )


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_every_printed_row_says_its_treatment_and_what_that_means(preset):
    name, *lines = str(preset).splitlines()
    assert name == preset.name
    for row, line in zip(ROWS, lines, strict=True):
        treatment = getattr(preset, row)
        assert line.split(maxsplit=1)[0] == row
        assert treatment.value in line
        assert line.endswith(MEANINGS[row][treatment])


def test_without_is_an_ablation_by_name():
    ablated = LIBRA.without("attention", "normalisation")
    assert ablated == dataclasses.replace(
        LIBRA,
        name="Libra without attention, normalisation",
        attention=OWN,
        normalisation=OWN,
    )
    assert LIBRA.without("attention").without("normalisation").normalisation is OWN
    assert LIBRA.without("bias").bias is OMITTED
    assert LIBRA.attention is CONSTANT


def test_replace_makes_a_preset():
    assert LIBRA.replace("mine", self_gating=OWN).name == "mine"
    unnamed = LIBRA.replace(self_gating=OWN, attention=HALVES)
    assert unnamed.name == "Libra (self_gating: own gradient, attention: halves)"
    assert (unnamed.self_gating, unnamed.attention) == (OWN, HALVES)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda: LIBRA.without("atention"),
            "a preset has no row 'atention'; did you mean 'attention'? "
            "Its rows are attention, normalisation, activation, self_gating, bias.",
        ),
        (
            lambda: LIBRA.replace(normalization=OWN),
            "a preset has no row 'normalization'; did you mean 'normalisation'? "
            "Its rows are attention, normalisation, activation, self_gating, bias.",
        ),
        (
            lambda: LIBRA.without("colour"),
            "a preset has no row 'colour'. "
            "Its rows are attention, normalisation, activation, self_gating, bias.",
        ),
        (
            lambda: LIBRA.replace(normalisation=HALVES),
            "row 'normalisation' cannot be HALVES; it can be one of OWN, CONSTANT",
        ),
        (
            lambda: Preset("mine", attention="constant"),  # type: ignore[arg-type]
            "row 'attention' cannot be 'constant'; it can be one of OWN, CONSTANT, HALVES",
        ),
    ],
)
def test_errors_say_what_would_do(ask, words):
    with pytest.raises(PresetError) as error:
        ask()
    assert str(error.value) == words


def test_a_preset_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        LIBRA.attention = OWN  # type: ignore[misc]


def test_a_preset_of_one_s_own_works():
    only_norms = Preset("only norms", normalisation=CONSTANT)
    x = draw(2, 4).requires_grad_()
    with balanced(only_norms):
        y = F.gelu(F.layer_norm(x, (4,))).sum()
    (got,) = torch.autograd.grad(y, x)
    with balanced(LIBRA.without("attention", "activation", "self_gating")):
        y = F.gelu(F.layer_norm(x, (4,))).sum()
    assert torch.equal(got, *torch.autograd.grad(y, x))


def test_without_biases_the_account_counts_none():
    model = Operation(lambda x: x + 2)
    counted = audit(model, draw(3), lambda y: y.sum(), LIBRA)
    omitted = audit(model, draw(3), lambda y: y.sum(), LIBRA.without("bias"))
    assert sum(counted.biases.values()) == pytest.approx(6)
    assert omitted.biases == {}
    assert omitted.error == pytest.approx(6)
