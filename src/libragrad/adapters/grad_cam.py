"""pytorch-grad-cam's call: `cam(input_tensor=…, targets=[…])` gives grey pictures in [0, 1]."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np
import torch.nn.functional as F
from torch import Tensor, nn

from libragrad.explaining.explainer import Explainer
from libragrad.targets import Target


class LibraCAM:
    """A class activation map as pytorch-grad-cam makes them, of any method of the library.

    The map's positive part is enlarged (bilinear) to the size of the picture and scaled to [0, 1],
    each picture by itself. Layers and reshape transforms need not be given: they are found.
    `settings` are those of `libragrad.explain`.

    >>> from libragrad.models import mosaic
    >>> cam = LibraCAM(model=mosaic.MosaicViT().eval())
    >>> pictures = mosaic.preprocess(mosaic.mosaic_images().images[:2])
    >>> grey = cam(input_tensor=pictures, targets=[lambda row: row[3], lambda row: row[4]])
    >>> grey.shape, float(grey.min()), float(grey.max())
    ((2, 64, 64), 0.0, 1.0)
    """

    def __init__(
        self, model: nn.Module, *, explainer: Explainer | None = None, **settings: Any
    ) -> None:
        """Remember the settings; an explainer of one's own may name the labels or the geometry."""
        self.model = model
        self.settings = settings
        self._explainer = explainer or Explainer(model)

    def __call__(
        self, input_tensor: Tensor, targets: Target | Sequence[Any] = None
    ) -> np.ndarray[Any, Any]:
        """Return (B, H, W) in float32.

        Targets are one an image: callables such as `ClassifierOutputTarget(281)`, each of which
        takes the output of its image, or what `libragrad.explain` takes. None is what is predicted.
        """
        maps = self._explainer.explain(input_tensor, targets, **self.settings).map
        size = (input_tensor.shape[-2], input_tensor.shape[-1])
        grey: np.ndarray[Any, Any] = (
            _scaled(enlarged(maps.clamp_min(0), size)).float().cpu().numpy()
        )
        return grey

    def __enter__(self) -> LibraCAM:
        """Return itself: there is nothing to undo, because the model is never changed."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Do nothing."""


def enlarged(maps: Tensor, size: tuple[int, int]) -> Tensor:
    """Interpolate between the centres of the cells of maps (B, h, w)."""
    return F.interpolate(maps[:, None], size, mode="bilinear", align_corners=False)[:, 0]


def _scaled(maps: Tensor) -> Tensor:
    """Take each map to [0, 1]; one without any differences is 0."""
    low, high = maps.amin((1, 2), keepdim=True), maps.amax((1, 2), keepdim=True)
    return ((maps - low) / (high - low)).nan_to_num(0.0)
