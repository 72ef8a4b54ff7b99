"""Captum's `attribute(inputs, target=…)`: attributions of the shape of the inputs."""

from __future__ import annotations

from typing import Any, overload

from torch import Tensor, nn

from libragrad.adapters.entries import entries
from libragrad.errors import InputError
from libragrad.explaining.explainer import Explainer
from libragrad.geometry.resample import resize_map


class LibraAttribution:
    """An attribution method as Captum has them, of any method, preset and path of the library.

    The map is taken to the picture's resolution with its sum, and each pixel's amount is shared
    evenly by its channels: the library says where, not which colour. So, up to what has no place in
    the picture (biases of the head, prefix tokens), the attributions sum to the output.

    `settings` are those of `libragrad.explain`. The target means what it means in Captum: an index
    or a tuple of indices for all inputs, a list or tensor with one for each, None where the output
    has one entry. What else `libragrad.explain` takes, a label or a contrast, may be given too.
    With a setting `output`, such as "probability", a target means what it means there.

    >>> from libragrad.models import mosaic
    >>> attribution = LibraAttribution(mosaic.MosaicViT().eval(), method="fullgrad")
    >>> attribution.attribute(mosaic.preprocess(mosaic.mosaic_images().images[:2]), target=3).shape
    torch.Size([2, 3, 64, 64])
    """

    def __init__(
        self, model: nn.Module, *, explainer: Explainer | None = None, **settings: Any
    ) -> None:
        """Remember the settings; an explainer of one's own may name the labels or the geometry."""
        self.forward_func = model
        self.settings = settings
        self._explainer = explainer or Explainer(model)

    @overload
    def attribute(
        self, inputs: Tensor, target: Any = ..., additional_forward_args: Any = ...
    ) -> Tensor: ...
    @overload
    def attribute(
        self, inputs: tuple[Tensor, ...], target: Any = ..., additional_forward_args: Any = ...
    ) -> tuple[Tensor, ...]: ...
    def attribute(
        self,
        inputs: Tensor | tuple[Tensor, ...],
        target: Any = None,
        additional_forward_args: Any = None,
    ) -> Tensor | tuple[Tensor, ...]:
        """Return attributions of the shape of `inputs`, in a tuple if these are."""
        x = inputs if isinstance(inputs, Tensor) else _only(inputs)
        more = additional_forward_args
        more = () if more is None else more if isinstance(more, tuple) else (more,)
        meant = target if "output" in self.settings else entries(target, len(x))
        found = self._explainer.explain((x, *more) if more else x, meant, **self.settings)
        amounts = over_channels(found.map, x)
        return amounts if isinstance(inputs, Tensor) else (amounts,)


def over_channels(maps: Tensor, x: Tensor) -> Tensor:
    """Return maps (B, h, w) as pictures (B, C, H, W) or tokens (B, N), each with its own sum.

    >>> import torch
    >>> over_channels(torch.tensor([[[8.0, 4.0]]]), torch.zeros(1, 2, 2, 2))[0, 0]
    tensor([[2., 1.],
            [2., 1.]])
    """
    if x.dim() == 2 and maps.shape[1:].numel() == x.shape[1]:
        return maps.reshape(x.shape)
    if x.dim() != 4:
        raise InputError(
            f"inputs of the shape {tuple(x.shape)} are no pictures (B, C, H, W) and no tokens "
            "(B, N): call libragrad.explain and take its map"
        )
    shared = resize_map(maps, (x.shape[2], x.shape[3])) / x.shape[1]
    return shared[:, None].expand(x.shape).to(x.dtype).contiguous()


def _only(inputs: tuple[Tensor, ...]) -> Tensor:
    if len(inputs) != 1:
        raise InputError(
            f"one tensor is explained, and {len(inputs)} were given: pass the others as "
            "additional_forward_args"
        )
    return inputs[0]
