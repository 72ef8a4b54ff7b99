"""A subset of the conformance run that meets every rule a model of the whole run has met.

The whole run takes hours; its page is `docs/conformance.md`.
"""

from __future__ import annotations

import warnings
from functools import cache, partial
from pathlib import Path

import pytest

from conformance import verdict, zoos
from conformance.report import rules_met
from conformance.verdict import Row, judge

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"

SUBSET = (
    ("timm", "test_byobnet"),
    ("timm", "test_vit"),
    ("timm", "test_convnext"),
    ("timm", "cpubone_nano"),
    ("open_clip", "ViT-S-32-alt/image"),
    ("open_clip", "ViT-S-32-alt/text"),
    ("torchvision", "squeezenet1_1"),
    ("torchvision", "shufflenet_v2_x0_5"),
    ("transformers", "ASTModel/sdpa"),
    ("transformers", "AfmoeForCausalLM/eager"),
    ("transformers", "AfmoeForCausalLM/sdpa"),
    ("transformers", "BertModel/sdpa"),
    ("transformers", "CLIPForImageClassification/eager"),
    ("transformers", "ClvpForCausalLM"),
    ("transformers", "ApertusModel/sdpa"),
    ("transformers", "DebertaModel"),
    ("transformers", "CohereAsrModel/eager"),
    ("transformers", "DiffLlamaModel/eager"),
    ("transformers", "DacModel"),
    ("transformers", "DeformableDetrForObjectDetection/eager"),
    ("transformers", "FastSpeech2ConformerModel"),
    ("transformers", "GraniteSWAForCausalLM"),
    ("transformers", "OlmoHybridForCausalLM/eager"),
    ("transformers", "xLSTMForCausalLM"),
)
"""Small models of every library."""


@cache
def judged(zoo: str, name: str) -> Row:
    """The verdict on one case, found once for all tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the libraries say of themselves
        return judge(zoo, name, partial(zoos.load(zoo).build, memory=2.0**30))


@pytest.fixture(params=SUBSET, ids="/".join)
def row(request) -> Row:
    return judged(*request.param)


def test_a_model_is_complete_untouched_and_computes_what_it_did(row):
    assert row.verdict in (verdict.OK, verdict.FLOAT32), f"{row.verdict}: {row.detail} {row.leaks}"


def test_every_operation_of_a_model_has_a_rule(row):
    assert row.unknown == []


def test_the_subset_meets_every_rule_of_the_whole_run():
    met = {rule for case in SUBSET for rule in judged(*case).operations}
    missing = rules_met(PAGE.read_text(encoding="utf-8")) - met
    assert not missing, f"add a small model that meets {sorted(missing)} to the subset"
