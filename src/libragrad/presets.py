"""Presets: a backward pass as a small table. Each row says how one kind of operation is treated."""

from __future__ import annotations

import dataclasses
import difflib
from dataclasses import dataclass
from enum import Enum

from libragrad.errors import PresetError


class Treatment(Enum):
    """What a row of a preset does to the gradient of its operations."""

    OWN = "own gradient"
    CONSTANT = "constant"
    HALVES = "halves"
    COUNTED = "counted"
    OMITTED = "omitted"


OWN, CONSTANT, HALVES = Treatment.OWN, Treatment.CONSTANT, Treatment.HALVES
COUNTED, OMITTED = Treatment.COUNTED, Treatment.OMITTED

MEANINGS: dict[str, dict[Treatment, str]] = {
    "attention": {
        OWN: "softmax and both products keep their gradient",
        CONSTANT: "the attention weights are constant: gradient to V alone",
        HALVES: "softmax keeps its gradient; each factor of a product gets half",
    },
    "normalisation": {
        OWN: "the denominator keeps its gradient",
        CONSTANT: "the denominator (σ, the norm) is constant; the mean is not",
    },
    "activation": {
        OWN: "f keeps its gradient",
        CONSTANT: "f(x) = x ⊙ [f(x)/x]const; a gate times a value: the gate is constant",
    },
    "self_gating": {
        OWN: "value ⊙ value: both factors get the whole gradient",
        HALVES: "value ⊙ value: each of n factors gets 1/n of the gradient",
        CONSTANT: "value ⊙ value: the activated factor is constant (else halves)",
    },
    "bias": {
        COUNTED: "every additive constant is a term of the account",
        OMITTED: "additive constants are left out of the account",
    },
}
"""The rows of a preset, the treatments that each allows, and what these mean."""

ROWS = tuple(MEANINGS)


@dataclass(frozen=True)
class Preset:
    """A table of treatments, one for each kind of operation. It prints as a table.

    >>> LIBRA.without("attention").attention is OWN
    True
    >>> LIBRA.replace("my own", self_gating=OWN) == dataclasses.replace(DECOMPX, name="my own")
    True
    """

    name: str
    attention: Treatment = OWN
    normalisation: Treatment = OWN
    activation: Treatment = OWN
    self_gating: Treatment = OWN
    bias: Treatment = COUNTED

    def __post_init__(self) -> None:
        """Refuse a treatment that a row does not know."""
        for row, meanings in MEANINGS.items():
            treatment = getattr(self, row)
            if treatment not in meanings:
                given = treatment.name if isinstance(treatment, Treatment) else repr(treatment)
                allowed = ", ".join(each.name for each in meanings)
                raise PresetError(f"row {row!r} cannot be {given}; it can be one of {allowed}")

    def replace(self, name: str | None = None, /, **rows: Treatment) -> Preset:
        """Return a preset with some rows replaced, under a name of its own."""
        for row in rows:
            _known(row)
        given = ", ".join(f"{row}: {treatment.value}" for row, treatment in rows.items())
        return dataclasses.replace(self, name=name or f"{self.name} ({given})", **rows)

    def without(self, *rows: str) -> Preset:
        """Return the ablation: these rows as in plain backpropagation (biases left out)."""
        plain = {_known(row): OMITTED if row == "bias" else OWN for row in rows}
        return dataclasses.replace(self, name=f"{self.name} without {', '.join(rows)}", **plain)

    def __str__(self) -> str:
        """Return the preset as a table."""
        cells = [(row, getattr(self, row)) for row in ROWS]
        lines = [
            f"  {row:<14}{treatment.value:<14}{MEANINGS[row][treatment]}"
            for row, treatment in cells
        ]
        return "\n".join([self.name, *lines])


def _known(row: str) -> str:
    if row in ROWS:
        return row
    near = difflib.get_close_matches(row, ROWS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise PresetError(f"a preset has no row {row!r}{hint} Its rows are {', '.join(ROWS)}.")


STANDARD = Preset("Standard")
"""Plain backpropagation."""

LIBRA = Preset("Libra", CONSTANT, CONSTANT, CONSTANT, HALVES)
"""LibraGrad: every kind of operation balanced; the account adds up."""

ALI_LRP = Preset("AliLRP", attention=CONSTANT, normalisation=CONSTANT)
"""Ali et al., XAI for Transformers (ICML 2022): attention and LayerNorm only."""

CP_LRP = Preset("CP-LRP", CONSTANT, CONSTANT, CONSTANT, CONSTANT)
"""Conservative propagation: as AliLRP, gated activations by their gate, and the activated branch
of a gated MLP constant."""

ATTN_LRP = Preset("AttnLRP", HALVES, CONSTANT, CONSTANT, HALVES)
"""Achtibat et al., AttnLRP (ICML 2024), ε → 0: softmax's own gradient, products by halves."""

DECOMPX = Preset("DecompX", CONSTANT, CONSTANT, CONSTANT, OWN)
"""Modarressi et al., DecompX (ACL 2023) by gradients: no halving of gates."""

PRESETS = {p.name: p for p in (STANDARD, LIBRA, ALI_LRP, CP_LRP, ATTN_LRP, DECOMPX)}
"""Every named preset."""

ABLATIONS = {
    "no attention": LIBRA.without("attention"),
    "no LayerNorm": LIBRA.without("normalisation"),
    "neither": LIBRA.without("attention", "normalisation"),
    "no activation": LIBRA.without("activation"),
    "no gate": LIBRA.without("self_gating"),
    "no bias": LIBRA.without("bias"),
    "plain": LIBRA.without("attention", "normalisation", "activation", "self_gating"),
}
"""The seven ablations of the paper."""
