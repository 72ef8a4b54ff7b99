"""Models of transformers, by name on the hub or by folder: `hf:google/vit-base-patch16-224`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.errors import ModelError
from libragrad.models.from_timm import INSTEAD
from libragrad.models.loaded import LoadedModel, Manifest
from libragrad.models.network import online, unreachable
from libragrad.models.preprocessing import Preprocessing
from libragrad.models.torchvision_cpu import declare_missing_operators
from libragrad.models.weights_file import put_weights, read_weights


def load(name: str, weights: Path | None, allow_pickle: bool) -> LoadedModel:
    """The model of the class that its configuration names, with its own weights or a file's.

    `name` may be the path of a folder that `save_pretrained` wrote. The model's own code, if its
    repository carries some, is not run.
    """
    declare_missing_operators()
    import transformers

    with online(f"the files of hf:{name}", INSTEAD, ModelError):
        try:
            config = transformers.AutoConfig.from_pretrained(name)
            kind = _kind(config)
            model = _model(kind, name, config, weights, allow_pickle)
            preprocess = _preprocessing(name) if _sees(model) else None
            tokenizer = transformers.AutoTokenizer.from_pretrained(name) if _reads(model) else None
        except (OSError, ValueError) as error:
            if unreachable(error) or isinstance(error, ModelError):
                raise
            first = str(error).strip().partition("\n")[0]
            raise ModelError(f"transformers cannot load {name!r}: {first}") from error
    return LoadedModel(
        model.eval(),
        Manifest(
            f"hf:{name}",
            "transformers",
            transformers.__version__,
            "pretrained" if weights is None else weights.name,
        ),
        preprocess,
        _labels(config, kind),
        tokenizer,
    )


def names() -> Iterable[str]:
    """None: the hub has millions of models, and they change."""
    return ()


def _kind(config: Any) -> Any:
    import transformers

    named = (config.architectures or ["AutoModel"])[0]
    kind = getattr(transformers, named, None)
    if kind is None:
        raise ModelError(
            f"transformers {transformers.__version__} has no class {named}, which the model's "
            "configuration names: upgrade it"
        )
    return kind


def _model(
    kind: Any, name: str, config: Any, weights: Path | None, allow_pickle: bool
) -> nn.Module:
    model: nn.Module
    if weights is None:
        model = kind.from_pretrained(name)
        return model
    with torch.random.fork_rng(devices=[]):
        model = kind.from_config(config) if hasattr(kind, "from_config") else kind(config)
    put_weights(model, read_weights(weights, allow_pickle=allow_pickle), weights, name)
    return model


def _sees(model: Any) -> bool:
    return model.main_input_name == "pixel_values" or hasattr(model.config, "vision_config")


def _reads(model: Any) -> bool:
    return model.main_input_name == "input_ids" or hasattr(model.config, "text_config")


def _preprocessing(name: str) -> Preprocessing:
    import transformers
    from torchvision.transforms import InterpolationMode

    process = transformers.AutoImageProcessor.from_pretrained(name)

    def pixels(**options: Any) -> Callable[[Any], Tensor]:
        def prepare(picture: Any) -> Tensor:
            x: Tensor = process(picture, return_tensors="pt", **options)["pixel_values"][0]
            return x

        return prepare

    whole = {"do_rescale": False, "do_normalize": False}
    normalises = getattr(process, "do_normalize", False)
    return Preprocessing(
        pixels(),
        pixels(resample=InterpolationMode.NEAREST_EXACT, **whole),
        tuple(process.image_mean) if normalises else (0.0,) * 3,
        tuple(process.image_std) if normalises else (1.0,) * 3,
    )


def _labels(config: Any, kind: Any) -> tuple[str, ...] | None:
    if "Classification" not in kind.__name__:
        return None
    return tuple(str(config.id2label[k]) for k in range(len(config.id2label)))
