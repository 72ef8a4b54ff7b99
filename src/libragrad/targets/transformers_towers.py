"""Towers of transformers' models: CLIP, SigLIP, and all that have their two methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.errors import TargetError
from libragrad.targets.output import main_tensor
from libragrad.targets.towers import Tokenizer, Towers


def transformers_towers(model: nn.Module, tokenizer: Tokenizer | str | None) -> Towers | None:
    """Return the towers of a model with `get_image_features` and `get_text_features`, else None.

    The tokenizer is a tokenizer or processor of transformers, any callable from texts to token
    indices or to the text tower's inputs, a name to load it by, or that of the model itself.
    """
    image, text = (getattr(model, f"get_{x}_features", None) for x in ("image", "text"))
    if not (callable(image) and callable(text)):
        return None
    split = _load(model, tokenizer) if isinstance(tokenizer, str | None) else tokenizer

    def encode_image(*args: Any, **kwargs: Any) -> Tensor:
        return main_tensor(image(*args, **kwargs))

    def encode_text(texts: Sequence[str]) -> Tensor:
        device = next(model.parameters()).device
        tokens = _tokens(model, split, list(texts))
        return main_tensor(text(**{key: value.to(device) for key, value in tokens.items()}))

    return Towers(encode_image, encode_text)


def _load(model: nn.Module, name: str | None) -> Tokenizer:
    from transformers import AutoTokenizer

    name = name or getattr(getattr(model, "config", None), "name_or_path", "") or None
    if name is None:
        raise TargetError(
            f"this {type(model).__name__} was not loaded by a name, so its tokenizer is unknown: "
            "pass tokenizer=, the processor or tokenizer that it was trained with"
        )
    try:
        found: Tokenizer = AutoTokenizer.from_pretrained(name)
    except Exception as error:
        raise TargetError(
            f"the tokenizer of {name!r} could not be loaded ({error}); pass tokenizer=, the "
            "processor or tokenizer that the model was trained with"
        ) from error
    return found


def _tokens(model: nn.Module, split: Tokenizer, texts: list[str]) -> Mapping[str, Tensor]:
    """Tokenise to the text tower's whole length: SigLIP was trained so, and a mask does no harm."""
    split = getattr(split, "tokenizer", split)  # that of a processor
    longest = getattr(split, "model_max_length", None)
    if longest is None:
        found = split(texts)
        return found if isinstance(found, Mapping) else {"input_ids": torch.as_tensor(found)}
    config = getattr(getattr(model, "config", None), "text_config", None)
    longest = min(longest, getattr(config, "max_position_embeddings", longest))
    found = split(
        texts, padding="max_length", truncation=True, max_length=longest, return_tensors="pt"
    )
    return dict(found)
