"""Towers of open_clip's models, and of others with the same two methods as OpenAI's CLIP."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.errors import TargetError
from libragrad.targets.towers import Tokenizer, Towers


def open_clip_towers(model: nn.Module, tokenizer: Tokenizer | str | None) -> Towers | None:
    """Return the towers of a model with `encode_image` and `encode_text`, else None.

    Such a model does not know its tokenizer: it is given, or the name that open_clip knows it by.
    """
    image, text = getattr(model, "encode_image", None), getattr(model, "encode_text", None)
    if not (callable(image) and callable(text)):
        return None
    if tokenizer is None:
        raise TargetError(
            f"{type(model).__name__} does not say which tokenizer it was trained with: pass the "
            "name that open_clip knows the model by, tokenizer='ViT-B-32', or the tokenizer itself"
        )
    split = _by_name(tokenizer) if isinstance(tokenizer, str) else tokenizer
    encode_image, encode_text = _unnormalised(image), _unnormalised(text)

    def encode(texts: Sequence[str]) -> Tensor:
        device = next(model.parameters()).device
        return encode_text(torch.as_tensor(split(list(texts))).to(device))

    return Towers(encode_image, encode)


def _by_name(name: str) -> Tokenizer:
    """Ask open_clip, which takes an unknown name for a CLIP: look it up first."""
    import open_clip

    if ":" not in name and open_clip.get_model_config(name.replace("/", "-")) is None:
        near = difflib.get_close_matches(name, open_clip.list_models(), n=3)
        hint = f"the nearest are {', '.join(near)}" if near else "see open_clip.list_models()"
        raise TargetError(f"open_clip knows no model {name!r}; {hint}")
    try:
        found: Tokenizer = open_clip.get_tokenizer(name)
    except Exception as error:
        raise TargetError(
            f"open_clip could not make the tokenizer of {name!r} ({error}); pass tokenizer=, a "
            "callable from a list of texts to token indices"
        ) from error
    return found


def _unnormalised(encode: Callable[..., Any]) -> Callable[..., Tensor]:
    """Ask for plain features: some models normalise unless told not to."""
    if "normalize" not in inspect.signature(encode).parameters:
        return encode
    return lambda *args, **kwargs: encode(*args, **{"normalize": False, **kwargs})
