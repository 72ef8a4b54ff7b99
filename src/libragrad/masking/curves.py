"""Deletion curves: what the model says while tokens go, the most or the least influential first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from libragrad.errors import InputError
from libragrad.masking.masker import Masker, Unmasked
from libragrad.metrics.curves import predicted_label
from libragrad.metrics.order import First
from libragrad.metrics.steps import FRACTIONS, keep_sets, removed_fractions

__all__ = ["BOTH", "Curve", "curve_cost", "delete"]

BOTH: tuple[First, ...] = ("most", "least")
"""MIF and LIF."""


@dataclass(frozen=True)
class Curve:
    """What a model said of each image at each point of a deletion curve.

    `metrics.agreement(curve.predicted, label)` is its accuracy curve, and
    `metrics.drop(curve.probability(label))` its AOPC curve.
    """

    removed: tuple[float, ...]
    """The points: the share of patches that is gone, from 0."""
    kept: tuple[int, ...]
    """How many patches are left at each point."""
    logits: Tensor
    """(images, points, classes); point 0 is the model's own output for the whole image."""

    @property
    def predicted(self) -> Tensor:
        """The class of the largest logit (the first of equals), (images, points)."""
        return predicted_label(self.logits)

    def probability(self, reference: Tensor) -> Tensor:
        """The probability of each image's reference class, (images, points), float64."""
        shares = self.logits.double().softmax(dim=-1)
        index = reference[:, None, None].expand(-1, shares.shape[1], 1)
        return shares.gather(-1, index).squeeze(-1)


def delete(
    masker: Masker,
    images: Tensor | Unmasked,
    attributions: Mapping[str, Tensor],
    firsts: Sequence[First] = BOTH,
    fractions: Sequence[float] = FRACTIONS,
    *,
    batch_size: int = 64,
) -> dict[tuple[str, First], Curve]:
    """Delete patches in the order of each attribution (images, patches), from both ends.

    Which patches stay is said by `metrics.keep_sets`: ⌊fraction · patches⌋ go, equal attributions
    rank by their position. The whole images run once for all curves. Steps that keep equally many
    patches share a batch, which holds as many tokens as `batch_size` whole images.

    >>> from libragrad.masking.masker import masker
    >>> from libragrad.models.mosaic import MosaicViT
    >>> images = torch.randn(2, 3, 64, 64)
    >>> model = masker(MosaicViT().eval(), images)
    >>> curves = delete(model, images, {"random": torch.rand(2, 256)}, fractions=[0.25, 0.5])
    >>> most = curves["random", "most"]
    >>> most.kept, most.logits.shape
    ((256, 192, 128), torch.Size([2, 3, 10]))
    >>> torch.equal(most.predicted[:, :1], curves["random", "least"].predicted[:, :1])
    True
    """
    whole = images if isinstance(images, Unmasked) else masker.unmasked(images)
    removed = removed_fractions(fractions)
    sets: dict[tuple[str, First], list[Tensor]] = {}
    for name, attribution in attributions.items():
        if attribution.shape != (len(whole.images), masker.patches):
            raise InputError(
                f"attribution {name!r} must be (images, patches) = ({len(whole.images)}, "
                f"{masker.patches}), without prefix tokens; got {tuple(attribution.shape)}"
            )
        for first in firsts:
            sets[name, first] = keep_sets(attribution, first, fractions)
    points = {key: [whole.logits, *steps] for key, steps in sets.items()}
    for (key, step), logits in _predictions(masker, whole, sets, batch_size):
        points[key][step + 1] = logits
    return {
        key: Curve(
            removed,
            (masker.patches, *(keep.shape[1] for keep in sets[key])),
            torch.stack(logits, dim=1),
        )
        for key, logits in points.items()
    }


def curve_cost(
    masker: Masker, first: First = "most", fractions: Sequence[float] = FRACTIONS
) -> float:
    """What the steps of one curve cost by their tokens, in forwards; point 0 is not among them.

    Σ_s (prefix + kept_s) / (prefix + patches)

    """
    ranks = torch.zeros(1, masker.patches)
    return sum(masker.cost(keep.shape[1]) for keep in keep_sets(ranks, first, fractions))


def _predictions(
    masker: Masker,
    whole: Unmasked,
    sets: Mapping[tuple[str, First], Sequence[Tensor]],
    batch_size: int,
) -> Iterator[tuple[tuple[tuple[str, First], int], Tensor]]:
    """Yield the logits of each step of each curve; equally long sequences run together."""
    together: dict[int, list[tuple[tuple[tuple[str, First], int], Tensor]]] = defaultdict(list)
    for key, steps in sets.items():
        for step, keep in enumerate(steps):
            together[keep.shape[1]].append(((key, step), keep))
    images = torch.arange(len(whole.images), device=whole.images.device)
    for kept, jobs in together.items():
        size = max(1, int(batch_size / masker.cost(kept)))
        rows, keep = images.repeat(len(jobs)), torch.cat([keep for _, keep in jobs])
        parts = [
            masker.predict(whole.rows(some), keep_some)
            for some, keep_some in zip(rows.split(size), keep.split(size), strict=True)
        ]
        logits = torch.cat(parts).split(len(images))
        yield from zip((job for job, _ in jobs), logits, strict=True)
