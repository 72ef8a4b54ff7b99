"""Each method equals its explicit reference, on tiny models of every form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from libragrad import LIBRA, METHODS, STANDARD, explain
from tests.methods.tiny import agrees, built
from tests.methods.tiny import pictures as square
from tests.reference.methods import NEEDS_ATTENTION, PAPER, REFERENCE, genatt_by_chefer
from tests.reference.tiny_turned import TurnedViT
from tests.reference.tiny_vit import TinyViT
from tests.reference.tiny_without_attention import TinyCNN, TinyMixer
from tests.reference.transcript import Transcript

FORMS: dict[str, Callable[[], nn.Module]] = {
    "CLS": TinyViT,
    "CLS, attention written out": lambda: TinyViT(fused=False),
    "CLS and three registers": lambda: TinyViT(prefix=4),
    "no CLS, mean": lambda: TinyViT(prefix=0, reads="mean"),
    "CLS that nobody reads, mean": lambda: TinyViT(reads="mean"),
    "RoPE and SwiGLU": lambda: TinyViT(position="rope", gated=True, reads="mean"),
    "relative position bias": lambda: TinyViT(position="relative"),
    "attention pool": lambda: TinyViT(prefix=0, reads="pool"),
    "nn.MultiheadAttention": lambda: TurnedViT(batch_first=True, written=False),
    "the same, weights written out": lambda: TurnedViT(batch_first=True, written=True),
    "the same, tokens before the batch": lambda: TurnedViT(batch_first=False, written=False),
    "the same, both": lambda: TurnedViT(batch_first=False, written=True, prefix=3),
    "Mixer": TinyMixer,
    "CNN": TinyCNN,
}
WITHOUT_ATTENTION = {"Mixer", "CNN"}
PAPER_LEAVES_OUT = {"attention pool"}
TARGET = 3


def pictures() -> torch.Tensor:
    return square(2, 24, 32)


@pytest.mark.parametrize("preset", [LIBRA, STANDARD], ids=lambda p: p.name)
@pytest.mark.parametrize(
    ("form", "profile"),
    [(form, "library") for form in FORMS]
    + [(form, "paper") for form in FORMS if form not in PAPER_LEAVES_OUT],
)
def test_every_method_equals_its_reference(form: str, preset: Any, profile: str) -> None:
    model, x = built(FORMS[form]()), pictures()
    transcript, z = model.explicit(x, TARGET, libra=preset is LIBRA)
    assert agrees(model(x), z)
    table = REFERENCE if profile == "library" else PAPER
    if form in WITHOUT_ATTENTION:
        table = {key: table[key] for key in table if key not in NEEDS_ATTENTION}
    found = explain(model, x, TARGET, methods=list(table), preset=preset, profile=profile)
    for e, (key, formula) in zip(found, table.items(), strict=True):
        tokens, rest = formula(transcript)
        assert agrees(e.tokens, tokens), key
        prefix = tokens[:, : e.layout.prefix].sum(1)
        assert agrees(e.unattributed, rest + prefix), key
        assert torch.equal(e.map.flatten(1), e.tokens[:, e.layout.prefix :]), key


def later(t: Transcript, level: int) -> Transcript:
    """The same run as if it had begun where block `level` begins."""
    return replace(
        t,
        h=t.h[level:],
        middle=t.middle[level:],
        after=t.after[level:],
        a=t.a[level:],
        constants=[replace(c, layer=c.layer - level) for c in t.constants if c.layer >= level],
    )


@pytest.mark.parametrize("level", [1, 2])
def test_at_a_later_level_each_formula_begins_there(level: int) -> None:
    model, x = built(TinyViT()), pictures()
    transcript, _ = model.explicit(x, TARGET, libra=True)
    found = explain(model, x, TARGET, methods=list(REFERENCE), level=level)
    for e, (key, formula) in zip(found, REFERENCE.items(), strict=True):
        assert agrees(e.tokens, formula(later(transcript, level))[0]), key


def test_every_method_with_a_formula_of_its_own_has_a_reference() -> None:
    by_preset = {key for key, method in METHODS.items() if method.preset is not None}
    assert set(METHODS) == set(REFERENCE) | by_preset | {"random"}


def test_genatt_is_chefers_up_to_a_power_of_two() -> None:
    model, x = built(TinyViT()), pictures()
    transcript, _ = model.explicit(x, TARGET, libra=False)
    e = explain(model, x, TARGET, method="genatt", preset=STANDARD)
    assert agrees(e.tokens * 2**3, genatt_by_chefer(transcript))


def test_a_wrong_reference_is_noticed() -> None:
    """The comparison tells one part in a billion."""
    model, x = built(TinyViT()), pictures()
    transcript, _ = model.explicit(x, TARGET, libra=True)
    for e in explain(model, x, TARGET, methods=list(REFERENCE)):
        tokens = REFERENCE[e.settings.method.key](transcript)[0]
        assert not agrees(e.tokens * (1 + 1e-9) + 1e-9, tokens), e.name


def test_standard_and_libra_differ() -> None:
    """Else one half of these tests would show nothing."""
    model, x = built(TinyViT()), pictures()
    for key in set(REFERENCE) - {"rawatt", "rollout"}:
        libra, standard = (
            explain(model, x, TARGET, method=key, preset=preset) for preset in (LIBRA, STANDARD)
        )
        assert not agrees(libra.tokens, standard.tokens), key


@pytest.mark.parametrize("key", sorted(NEEDS_ATTENTION - {"attcat"}))
def test_a_mean_is_read_where_the_head_reads_it_and_row_0_by_the_paper(key: str) -> None:
    model, x = built(TinyViT(reads="mean")), pictures()
    library, paper = (
        explain(model, x, TARGET, method=key, profile=profile) for profile in ("library", "paper")
    )
    assert not agrees(library.tokens, paper.tokens)
