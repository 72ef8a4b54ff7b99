"""The model behind the page, shared by all visitors, and what was found out about it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from libragrad.errors import InputError
from libragrad.explaining.explainer import Explainer
from libragrad.masking import Masker, masker
from libragrad.models.loaded import LoadedModel
from libragrad.models.preprocessing import Preprocessing
from libragrad.targets import PromptModel

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Seen", "Studio", "Witness"]

_REMEMBERED = 8


@dataclass(frozen=True)
class Seen:
    """A picture as the model sees it."""

    name: str
    """That of the file, or of the example: `builtin:mosaic-007`."""
    x: Tensor
    """The model's input, (1, 3, H, W)."""
    shown: Tensor
    """The same as a picture, (1, 3, H, W) in [0, 1]."""


@dataclass(frozen=True)
class Witness:
    """A model that can be asked about pictures of one size."""

    explainer: Explainer
    masker: Masker
    prompts: tuple[str, ...] = ()
    """What stands in the place of classes, in a model that compares pictures with texts."""


class Studio:
    """One model for everybody. Its answers depend on nothing that another visitor asked."""

    def __init__(self, loaded: LoadedModel) -> None:
        """Remember the model, which must see pictures."""
        if loaded.preprocess is None:
            raise InputError(
                f"{loaded.manifest.name} reads text and sees no pictures: the page needs one"
            )
        self.loaded = loaded
        self.preprocess: Preprocessing = loaded.preprocess
        self._witnesses: OrderedDict[tuple[torch.Size, tuple[str, ...]], Witness] = OrderedDict()

    @property
    def reads(self) -> bool:
        """Whether the model compares pictures with texts, and needs prompts for classes."""
        return self.loaded.tokenizer is not None

    def see(self, picture: Image, name: str) -> Seen:
        """The picture as the model sees it."""
        x = self.preprocess(picture)
        shown = torch.from_numpy(self.preprocess.shown(x)).permute(2, 0, 1).double() / 255
        device = next(self.loaded.model.parameters()).device
        return Seen(name, x[None].to(device), shown[None])

    def witness(self, seen: Seen, prompts: tuple[str, ...] = ()) -> Witness:
        """The model, ready for pictures of this size and for these prompts."""
        key = (seen.x.shape, prompts)
        if key not in self._witnesses:
            labels = None if prompts else self.loaded.labels
            explainer = Explainer(self._model(prompts), labels=labels)
            found = masker(explainer.model, seen.x, geometry=explainer.geometry(seen.x))
            self._witnesses[key] = Witness(explainer, found, prompts)
            if len(self._witnesses) > _REMEMBERED:
                self._witnesses.popitem(last=False)
        self._witnesses.move_to_end(key)
        return self._witnesses[key]

    def _model(self, prompts: tuple[str, ...]) -> nn.Module:
        if not prompts:
            return self.loaded.model
        return PromptModel(self.loaded.model, prompts, tokenizer=self.loaded.tokenizer).eval()
