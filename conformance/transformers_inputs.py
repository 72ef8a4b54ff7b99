"""Inputs for any transformers class, read from its forward's signature and its configuration."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor, nn

BATCH = 2
TOKENS = 16
FRAMES = 4
SAMPLES = 4000
FIRST_ID = 5
VOCABULARY = 99


def synthesise(model: nn.Module, overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return keyword arguments for `model`: its main input, and what goes with it.

    `overrides` maps an argument to a shape (a tuple of integers: normal numbers), to a tensor, to
    `None` (leave it out), or to a function of the model.
    """
    config: Any = model.config
    accepted = inspect.signature(model.forward).parameters
    main = getattr(model, "main_input_name", "input_ids")
    names = [main] if isinstance(main, str) else list(main)
    names += [name for name in COMPANIONS if name in accepted and name not in names]
    generator = torch.Generator().manual_seed(1)
    made = {name for name in names if name in accepted and name in MAKERS}
    inputs = {name: MAKERS[name](config, generator) for name in names if name in made}
    for name, value in (overrides or {}).items():
        inputs[name] = _given(value, model, generator)
    inputs = {name: value for name, value in inputs.items() if value is not None}
    required = {name for name, p in accepted.items() if p.default is p.empty}
    if "grid_thw" in required:
        inputs = _patches(
            config, generator, "hidden_states" if "hidden_states" in accepted else main
        )
    _measure_images(model, inputs, generator)
    _place_images(model, inputs)
    if "mm_token_type_ids" in accepted and "image_grid_thw" in inputs:
        inputs["mm_token_type_ids"] = (inputs["input_ids"] == _image_token(config)).long()
    if padded(config) and "attention_mask" in accepted and set(inputs) == {"input_ids"}:
        inputs["attention_mask"] = mask()
    return inputs


def _given(value: Any, model: nn.Module, generator: torch.Generator) -> Any:
    """What an override stands for."""
    if isinstance(value, tuple):
        return torch.randn(value, generator=generator)
    return value(model) if callable(value) else value


def padded(config: Any) -> bool:
    """Whether a padding mask is given: to encoders of text, not to decoders."""
    text = getattr(config, "text_config", None) or config
    decoder = getattr(text, "is_decoder", False) or hasattr(text, "use_cache")
    return not decoder and not getattr(config, "is_encoder_decoder", False)


def ids(generator: torch.Generator, vocabulary: int = VOCABULARY, length: int = TOKENS) -> Tensor:
    """Random token ids that are no special tokens."""
    return torch.randint(FIRST_ID, vocabulary, (BATCH, length), generator=generator)


def mask() -> Tensor:
    """A padding mask: the second sequence is two tokens shorter, less than any local window."""
    m = torch.ones(BATCH, TOKENS, dtype=torch.long)
    m[1, -2:] = 0
    return m


def boxes(limit: int = 900) -> Tensor:
    """Bounding boxes (x0, y0, x1, y1) with x0 < x1 and y0 < y1."""
    generator = torch.Generator().manual_seed(2)
    corner = torch.randint(0, limit // 2, (BATCH, TOKENS, 2), generator=generator)
    extent = torch.randint(1, limit // 2, (BATCH, TOKENS, 2), generator=generator)
    return torch.cat([corner, corner + extent], -1)


def _measure_images(model: nn.Module, inputs: dict[str, Any], generator: torch.Generator) -> None:
    """Give what a model asks for beside an image: its size, or its grid of patches."""
    get = getattr(model, "get_image_features", None)
    asked = {} if get is None else dict(inspect.signature(get).parameters)
    sizes = asked.get("image_sizes")
    if "image_grid_thw" in asked and "pixel_values" in inputs:
        patches = _patches(model.config, generator, "pixel_values")
        inputs |= {"pixel_values": patches["pixel_values"], "image_grid_thw": patches["grid_thw"]}
    if sizes is not None and sizes.default is sizes.empty and "pixel_values" in inputs:
        inputs["image_sizes"] = torch.tensor([list(inputs["pixel_values"].shape[-2:])] * BATCH)


def _image_token(config: Any) -> int | None:
    """The token that stands for a piece of an image."""
    token: int | None = _find(config, "image_token_id", "image_token_index")
    return token


def _patches(config: Any, generator: torch.Generator, name: str) -> dict[str, Any]:
    """Two images of 4 × 4 flattened patches, as the towers take them that mix image sizes."""
    channels = _find(config, "in_channels", "in_chans", "num_channels", default=3)
    depth = _find(config, "temporal_patch_size", default=1)
    width = channels * depth * _find(config, "patch_size", default=8) ** 2
    grid = torch.tensor([[1, 4, 4], [1, 4, 4]])
    return {name: torch.randn(32, width, generator=generator), "grid_thw": grid}


def _place_images(model: nn.Module, inputs: dict[str, Any]) -> None:
    """Put as many image tokens into `input_ids` as the vision tower gives features."""
    token = _image_token(model.config)
    get = getattr(model, "get_image_features", None)
    if token is None or get is None or not {"pixel_values", "input_ids"} <= inputs.keys():
        return
    images = {k: v for k, v in inputs.items() if k in inspect.signature(get).parameters}
    with torch.no_grad():
        features = get(**{k: v for k, v in images.items() if k != "input_ids"})
    features = getattr(features, "pooler_output", features)
    features = torch.cat(list(features)) if isinstance(features, list | tuple) else features
    count = features.numel() // features.shape[-1] // BATCH
    ids = inputs["input_ids"]
    row = torch.full((BATCH, count), token)
    inputs["input_ids"] = torch.cat([ids[:, :3], row, ids[:, 3:]], 1)


def _find(config: Any, *names: str, default: Any = None) -> Any:
    """The first of `names` that the configuration or one of its parts has."""
    parts = [config] + [
        getattr(config, part, None) for part in ("vision_config", "audio_config", "text_config")
    ]
    for name in names:
        for part in parts:
            value = getattr(part, name, None)
            if value is not None:
                return value
    return default


def _image(config: Any, generator: torch.Generator, *lead: int) -> Tensor:
    side = _find(config, "image_size", "input_size", default=64)
    side = side if isinstance(side, int) else side[-1]
    side = 64 if side > 128 else side
    channels = _find(config, "num_channels", "in_channels", "in_chans", default=3)
    return torch.randn(*(lead or (BATCH,)), int(channels), side, side, generator=generator)


def _video(config: Any, generator: torch.Generator) -> Tensor:
    frames = _find(config, "num_frames", "frames_per_clip", default=FRAMES)
    return _image(config, generator, BATCH, int(frames))


def _wave(config: Any, generator: torch.Generator) -> Tensor:
    if getattr(config, "max_length", None) and hasattr(config, "num_mel_bins"):
        return torch.randn(BATCH, config.max_length, config.num_mel_bins, generator=generator)
    channels = getattr(config, "audio_channels", None)
    shape = (BATCH, SAMPLES) if channels is None else (BATCH, channels, SAMPLES)
    return torch.randn(shape, generator=generator)


def _features(config: Any, generator: torch.Generator) -> Tensor:
    bins = _find(config, "num_mel_bins", "input_feat_per_channel", "feature_size", default=80)
    positions = _find(config, "max_source_positions")
    if positions is not None and _find(config, "input_feat_per_channel") is None:
        return torch.randn(BATCH, int(bins), 2 * int(positions), generator=generator)
    return torch.randn(BATCH, 4 * TOKENS, int(bins), generator=generator)


MAKERS: dict[str, Any] = {
    "input_ids": lambda config, generator: ids(
        generator, min(VOCABULARY, _find(config, "vocab_size", default=VOCABULARY))
    ),
    "decoder_input_ids": lambda config, generator: ids(generator),
    "pixel_values": _image,
    "pixel_values_videos": _video,
    "input_values": _wave,
    "input_features": _features,
    "bbox": lambda config, generator: boxes(),
}
COMPANIONS = ("input_ids", "pixel_values", "input_features", "decoder_input_ids", "bbox")
