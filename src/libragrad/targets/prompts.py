"""CLIP and SigLIP: prompts in the place of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.errors import TargetError
from libragrad.presets import Treatment
from libragrad.targets.open_clip_towers import open_clip_towers
from libragrad.targets.similarity import Directions, Similarity
from libragrad.targets.specs import Contrast, Prompt
from libragrad.targets.towers import Tokenizer
from libragrad.targets.transformers_towers import transformers_towers


class PromptModel(nn.Module):
    """The image tower of a model, with prompts for classes.

        z_p = scale · cos(f, t_p) + bias

    The prompts are encoded once, by the model's own text tower and tokenizer. What the model then
    computes from an image are the features f; the cosine belongs to the target: `Similarity`, which
    says what `norm` does. Ranks, contrasts, probabilities over the prompts work as over classes.

    Any model of open_clip or transformers will do that has an image tower, a text tower and a
    `logit_scale`. The given model stays as it is. The tests compare with the models' own
    similarities at random weights of small configurations; no released model is among them.
    """

    units: Tensor

    def __init__(
        self,
        model: nn.Module,
        prompts: Sequence[str],
        *,
        tokenizer: Tokenizer | str | None = None,
        norm: Treatment = Treatment.CONSTANT,
    ) -> None:
        """Encode the prompts."""
        super().__init__()
        prompts = (prompts,) if isinstance(prompts, str) else tuple(prompts)
        if not prompts or not all(text.strip() for text in prompts):
            raise TargetError(f"prompts must be one or more texts, none empty; got {prompts!r}")
        if norm not in (Treatment.CONSTANT, Treatment.OWN):
            raise TargetError(f"the norm is Treatment.CONSTANT or Treatment.OWN, not {norm!r}")
        self.model = model
        self.labels = prompts
        self.norm = norm
        towers = open_clip_towers(model, tokenizer) or transformers_towers(model, tokenizer)
        if towers is None or not isinstance(getattr(model, "logit_scale", None), Tensor):
            raise TargetError(
                f"{type(model).__name__} takes no prompts: looked for encode_image and "
                "encode_text, or get_image_features and get_text_features, and for logit_scale"
            )
        self._image = towers.image
        with torch.no_grad():
            features = towers.text(prompts)
            self.register_buffer("units", features / features.norm(dim=-1, keepdim=True))

    def forward(self, *args: Any, **kwargs: Any) -> Similarity:
        """Return the image's features, with the prompts that they are compared with."""
        scale, bias = (getattr(self.model, f"logit_{part}", None) for part in ("scale", "bias"))
        directions = Directions(
            self.labels,
            self.units,
            scale.detach().exp() if isinstance(scale, Tensor) else 1.0,
            bias.detach() if isinstance(bias, Tensor) else 0.0,
            self.norm,
        )
        return Similarity(self._image(*args, **kwargs), directions)


def prompted(model: nn.Module, target: object) -> nn.Module:
    """Return the model with the prompts that the target speaks of; without any, the model itself.

    >>> prompted(model := nn.Linear(2, 2), "zebra") is model
    True
    """
    texts = list(dict.fromkeys(_texts(target)))
    if not texts or isinstance(model, PromptModel):
        return model
    return PromptModel(model, texts)


def _texts(target: object) -> list[str]:
    if isinstance(target, Prompt):
        return [target.text]
    if isinstance(target, Contrast):
        return _texts(target.a) + _texts(target.b)
    if isinstance(target, (list, tuple)):
        return [text for one in target for text in _texts(one)]
    return []
