"""What the segmentation metrics share: maps beside masks, checked and flattened."""

from __future__ import annotations

from torch import Tensor

__all__ = ["flat_region"]


def flat_region(
    attribution: Tensor, mask: Tensor, valid: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores (float64), inside and outside (bool), each (images, pixels).

    Pixels where `valid` is false (a trimap's border) are neither inside nor outside.
    """
    shapes = [tuple(t.shape) for t in (attribution, mask, valid) if t is not None]
    if attribution.ndim < 2 or len(set(shapes)) > 1:
        raise ValueError(f"expected a mask of the map's own shape (images, …); got {shapes}")
    if not attribution.isfinite().all():
        bad = (~attribution.isfinite()).flatten(1).any(dim=1).nonzero().flatten().tolist()
        raise ValueError(f"the map of image(s) {bad} is not finite")
    inside = mask.bool().flatten(1)
    outside = ~inside
    if valid is not None:
        inside = inside & valid.bool().flatten(1)
        outside = outside & valid.bool().flatten(1)
    if not inside.any(dim=1).all():
        bad = (~inside.any(dim=1)).nonzero().flatten().tolist()
        raise ValueError(
            f"the mask of image(s) {bad} is empty: there is nothing to find, leave them out"
        )
    return attribution.double().flatten(1), inside, outside
