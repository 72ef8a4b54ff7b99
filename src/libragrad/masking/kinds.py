"""The masks by their names: what stands in the place of a masked patch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

import torch
from torch import Tensor

from libragrad.errors import InputError
from libragrad.geometry.layout import Layout

__all__ = ["MASKS", "Mask", "blurred", "find_mask"]


@dataclass(frozen=True)
class Mask:
    """A way to mask patches. With neither filler the tokens leave the sequence."""

    name: str
    summary: str
    tokens: Callable[[Tensor, Layout], Tensor] | None = None
    """What replaces tokens: from h₀ (images, N, d) and its layout, a tensor that broadcasts."""
    pixels: Callable[[Tensor, Layout], Tensor] | None = None
    """What replaces pixels: from (images, 3, H, W) and the grid's layout."""


def _zero(x: Tensor, layout: Layout) -> Tensor:
    return x.new_zeros(())


def _mean_token(h: Tensor, layout: Layout) -> Tensor:
    return h[:, layout.prefix :].mean(dim=1, keepdim=True)


def _mean_colour(x: Tensor, layout: Layout) -> Tensor:
    return x.mean(dim=(2, 3), keepdim=True)


def _blur(x: Tensor, layout: Layout) -> Tensor:
    rows, columns = layout.grid
    return blurred(x, (x.shape[2] / rows, x.shape[3] / columns))


def blurred(x: Tensor, sigma: tuple[float, float]) -> Tensor:
    """Blur images with a Gaussian of these deviations in pixels, vertical and horizontal.

        out = R x Cᵀ,   R_ij ∝ exp(−(i − j)² / 2σ²),   Σ_j R_ij = 1

    Near an edge the weights are those of the pixels that exist, so an even image stays even.

    >>> blurred(torch.tensor([[[[1.0, 1.0], [1.0, 1.0]]]]), (1.0, 1.0)).tolist()
    [[[[1.0, 1.0], [1.0, 1.0]]]]
    """

    def weights(size: int, deviation: float) -> Tensor:
        i = torch.arange(size, dtype=torch.float64, device=x.device)
        return (-((i[:, None] - i) ** 2) / (2 * deviation**2)).softmax(1).to(x.dtype)

    return weights(x.shape[2], sigma[0]) @ x @ weights(x.shape[3], sigma[1]).T


_ROWS = (
    Mask("drop", "tokens leave the sequence, the others keep their positions"),
    Mask("zero", "tokens of h₀ become 0", tokens=_zero),
    Mask("mean", "tokens of h₀ become the image's mean token", tokens=_mean_token),
    Mask("pixel_zero", "pixels become 0, after normalisation: the data set's mean", pixels=_zero),
    Mask("pixel_mean", "pixels become the image's mean colour", pixels=_mean_colour),
    Mask("blur", "pixels are blurred, by a Gaussian as wide as a patch", pixels=_blur),
)

MASKS: Mapping[str, Mask] = MappingProxyType({row.name: row for row in _ROWS})
"""Every mask by its name. Read-only."""


def find_mask(name: str) -> Mask:
    """The mask of that name.

    >>> find_mask("drop").summary
    'tokens leave the sequence, the others keep their positions'
    >>> find_mask("blurr")
    Traceback (most recent call last):
        ...
    libragrad.errors.InputError: no mask 'blurr'; did you mean 'blur'?
    """
    if name in MASKS:
        return MASKS[name]
    near = get_close_matches(name, MASKS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(MASKS)}"
    raise InputError(f"no mask {name!r}; {hint}")
