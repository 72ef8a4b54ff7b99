"""transformers: a wide list of classes at tiny configurations, both attention implementations."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch

from conformance.case import Skipped, Subject
from conformance.tiny import tiny
from conformance.transformers_inputs import synthesise
from conformance.transformers_particular import (
    CONFIGURATIONS,
    EAGER_ONLY,
    INPUTS,
    SDPA_ONLY,
    SINGLE,
)

DATA = Path(__file__).parent / "data"
LIST = DATA / "transformers.txt"
LEFT_OUT = DATA / "transformers_left_out.txt"


def classes() -> list[str]:
    """The listed classes, one a line in `data/transformers.txt`."""
    lines = LIST.read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def left_out() -> dict[str, str]:
    """A class of every family that is not listed, with what it says at its tiny configuration."""
    lines = (line.partition("\t") for line in LEFT_OUT.read_text().splitlines())
    return {name: says for name, _, says in lines if not name.startswith("#")}


def names() -> list[str]:
    """`BertModel/eager` and `BertModel/sdpa`, or `BertModel` where there is nothing to choose."""
    return [case for name in classes() for case in implementations(name)]


def implementations(name: str) -> list[str]:
    """The cases of one class: both attention implementations where it has both."""
    import transformers

    if name.startswith(EAGER_ONLY):
        return [f"{name}/eager"]
    if name.startswith(SDPA_ONLY):
        return [f"{name}/sdpa"]
    if getattr(getattr(transformers, name), "_supports_sdpa", False):
        return [f"{name}/eager", f"{name}/sdpa"]
    return [name]


def build(name: str, memory: float = float("inf")) -> Subject:
    """Build one class at its tiny configuration, with inputs for its forward."""
    import transformers

    transformers.logging.set_verbosity_error()
    class_name, _, implementation = name.partition("/")
    model_class: Any = getattr(transformers, class_name)
    config = tiny(model_class.config_class, particular(CONFIGURATIONS, class_name))
    options = {"experts_implementation": "eager"}
    if implementation:
        options["attn_implementation"] = implementation
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model_class._from_config(config, **options).eval()
    need = 8 * sum(p.numel() for p in model.parameters())
    if need > memory:
        raise Skipped(f"{need / 2**30:.1f} GiB of float64 parameters, budget {memory / 2**30:.1f}")
    inputs = synthesise(model, particular(INPUTS, class_name))
    for prefix, reason in SINGLE.items():
        if class_name.startswith(prefix):
            return Subject(model, inputs, reason, torch.float32)
    return Subject(model, inputs)


def particular(table: dict[str, dict[str, Any]], class_name: str) -> dict[str, Any]:
    """Return the entry of the longest prefix of a class name: `Bert` serves every head of it.

    >>> particular({"Ga": {"a": 1}, "Gabc": {"a": 2}}, "GabcModel")
    {'a': 2}
    """
    prefixes = [prefix for prefix in table if class_name.startswith(prefix)]
    return dict(table[max(prefixes, key=len)]) if prefixes else {}
