"""Language models: tokens in a row, masks, causal attention, inputs by name."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from libragrad import METHODS, InputError, explain
from tests.methods.tiny import agrees, built

IDS = torch.tensor([[5, 9, 2, 7, 11, 3], [4, 1, 8, 8, 2, 6]])
SMALL: dict[str, Any] = {
    "vocab_size": 20,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 12,
}
GPT: dict[str, Any] = {"vocab_size": 20, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 12}


MODELS: dict[str, dict[str, Any]] = {
    "Bert ForSequenceClassification": {**SMALL, "num_labels": 3},
    "GPT2 LMHeadModel": GPT,
    "Llama ForCausalLM": {**SMALL, "num_key_value_heads": 1},
}


def named(name: str) -> Any:
    kind = name.split(" ", maxsplit=1)[0]
    config = getattr(transformers, f"{kind}Config")(**MODELS[name], pad_token_id=0)
    return built(getattr(transformers, name.replace(" ", ""))(config))


def tolerance(name: str) -> float:
    """Llama's own norm computes in single precision, whatever its weights are."""
    return 1e-6 if name.startswith("Llama") else 1e-10


@pytest.mark.parametrize("name", MODELS)
def test_the_words_and_the_rest_are_the_logit(name: str) -> None:
    network = named(name)
    e = explain(network, {"input_ids": IDS}, 2, method="fullgrad")
    z: Tensor = network(input_ids=IDS).logits
    wanted = (z if z.dim() == 2 else z[:, -1])[:, 2]
    assert agrees(e.output, wanted)
    assert tuple(e.map.shape) == (2, 1, 6)
    assert agrees(e.map.flatten(1).sum(1) + e.unattributed, wanted, tolerance(name))
    assert agrees(explain(network, IDS, 2, method="fullgrad").tokens, e.tokens)


@pytest.mark.parametrize("name", MODELS)
def test_every_method_of_a_batch_is_that_of_its_texts(name: str) -> None:
    network = named(name)
    methods = [key for key in METHODS if key != "random"]
    whole = explain(network, IDS, 2, methods=methods)
    for i in range(2):
        alone = explain(network, IDS[i : i + 1], 2, methods=methods)
        for a, b in zip(whole, alone, strict=True):
            assert agrees(a.tokens[i : i + 1], b.tokens, tolerance(name)), a.name


def test_the_last_token_of_a_causal_model_reads_only_what_came_before() -> None:
    """A rollout's row sums to one; nothing is read of what follows the explained position."""
    network = named("GPT2 LMHeadModel")
    e = explain(network, IDS, 2, method="rollout")
    assert agrees(e.tokens.sum(1), torch.ones(2))
    network.set_attn_implementation("eager")  # which alone returns its weights
    eye = torch.eye(6, dtype=torch.float64)
    weights = network(input_ids=IDS, output_attentions=True).attentions
    first, second = (0.5 * a.mean(1) + 0.5 * eye for a in weights)
    assert agrees(e.tokens, (second @ first)[:, -1])


def test_padding_gives_nothing_to_the_words() -> None:
    """A padded text has the same map as the text alone, and its padding has none."""
    network = named("Bert ForSequenceClassification")
    padded = torch.cat([IDS[:1], torch.zeros(1, 2, dtype=torch.long)], 1)
    mask = torch.tensor([[1, 1, 1, 1, 1, 1, 0, 0]])
    given = {"input_ids": padded, "attention_mask": mask}
    methods = ["fullgrad", "fullgrad+", "genatt", "rollout"]
    alone = explain(network, IDS[:1], 1, methods=methods)
    for a, b in zip(explain(network, given, 1, methods=methods), alone, strict=True):
        assert agrees(a.tokens[:, :6], b.tokens), a.name
        assert agrees(a.tokens[:, 6:], torch.zeros(1, 2)), a.name


def test_a_text_has_no_pixels() -> None:
    with pytest.raises(
        InputError, match="level='pixels' needs a picture, and this model reads text"
    ):
        explain(named("Bert ForSequenceClassification"), IDS, 1, level="pixels")
