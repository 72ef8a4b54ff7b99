"""A masker: the logits of images of which some patches are masked, at what that must cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor, nn

from libragrad.engine.inputs import original
from libragrad.errors import InputError, TargetError
from libragrad.geometry.discover import discover
from libragrad.geometry.geometry import Geometry
from libragrad.masking.following import Plan
from libragrad.masking.forward import Forward
from libragrad.masking.kept import Kept
from libragrad.masking.kinds import MASKS, Mask, find_mask
from libragrad.masking.shortening import run, startable, try_dropping

__all__ = ["Masker", "Unmasked", "masker"]


@dataclass(frozen=True)
class Unmasked:
    """What one run of the whole images leaves for all masked ones."""

    images: Tensor
    logits: Tensor
    """(images, classes), of nothing masked: the model's own forward."""
    h: Tensor
    """h₀, with the batch on axis 0."""
    filler: Tensor
    """What stands in the place of masked tokens or pixels."""

    def rows(self, rows: Tensor) -> Unmasked:
        """Return these images, in this order; an image may come more than once."""
        filler = self.filler[rows] if self.filler.ndim else self.filler
        return Unmasked(self.images[rows], self.logits[rows], self.h[rows], filler)


@dataclass(frozen=True)
class Masker:
    """Predicts from some of the patches. Made by `masker`; it prints what it does."""

    forward: Forward
    asked: Mask
    """The mask that was asked for."""
    used: Mask
    """The mask that is used: "zero" where tokens were to be dropped and the model cannot."""
    reason: str
    """Why another mask is used; empty if it is the one asked for."""
    plan: Plan

    @property
    def patches(self) -> int:
        """The number of patches; they are numbered along the grid, row by row."""
        return prod(self.forward.layout.grid)

    def cost(self, kept: int) -> float:
        """What a prediction from `kept` patches costs, in forwards: its share of the tokens."""
        layout = self.forward.layout
        return (layout.prefix + kept) / layout.count if self.used.name == "drop" else 1.0

    def unmasked(self, images: Tensor) -> Unmasked:
        """Run the whole images once, for any number of predictions from parts of them."""
        logits, h = self.forward.whole(images)
        layout, filler = self.forward.layout, h.new_zeros(())
        if self.used.tokens is not None:
            filler = self.used.tokens(self._tokens(h), layout)
        elif self.used.pixels is not None:
            filler = self.used.pixels(images, layout)
        return Unmasked(images, logits, h, filler)

    def predict(self, images: Tensor | Unmasked, keep: Tensor) -> Tensor:
        """Return logits (images, classes) from the patches `keep` (images, k) alone.

        Each row holds k different patches, in any order; k is the same for all images. Prefix
        tokens (CLS, registers) are never masked.
        """
        whole = images if isinstance(images, Unmasked) else self.unmasked(images)
        self._check(whole, keep)
        try:
            return self._predict(whole, keep)
        except TargetError as error:
            if keep.shape[1]:
                raise
            raise InputError(
                "this model says nothing of no patch at all: keep at least one"
            ) from error

    def _predict(self, whole: Unmasked, keep: Tensor) -> Tensor:
        if self.used.name == "drop":
            kept = Kept.of(keep, self.forward.layout)
            return run(self.forward, whole.h, whole.images, kept, self.plan)
        if self.used.tokens is not None:
            return self.forward.from_tokens(self._filled_tokens(whole, keep), whole.images)
        return self.forward.whole(self._filled_pixels(whole, keep))[0]

    def _filled_tokens(self, whole: Unmasked, keep: Tensor) -> Tensor:
        """Return h₀ with the filler on the masked patches, in its own layout."""
        h, tokens = whole.h, self._tokens(whole.h)
        ones = keep.new_ones(len(keep), self.forward.layout.prefix, dtype=torch.bool)
        kept = torch.cat([ones, self._kept(keep)], dim=1)[:, :, None]
        filled = torch.where(kept, tokens, whole.filler)
        # Where each number of `tokens` lies in an image's h₀: the layout's way back.
        one = torch.arange(h[0].numel(), device=h.device).view_as(h[:1])
        place = self._tokens(one).flatten()
        flat = torch.empty_like(h).flatten(1)
        flat[:, place] = filled.flatten(1)
        return flat.view(h.shape)

    def _filled_pixels(self, whole: Unmasked, keep: Tensor) -> Tensor:
        """Return the images with the filler on the pixels of the masked patches."""
        grid = self._kept(keep).unflatten(1, self.forward.layout.grid)
        size = whole.images.shape[2:]
        rows, columns = (
            torch.arange(n, device=keep.device) * cells // n
            for n, cells in zip(size, self.forward.layout.grid, strict=True)
        )
        seen = grid[:, rows][:, :, columns][:, None]
        return torch.where(seen, whole.images, whole.filler)

    def _tokens(self, h: Tensor) -> Tensor:
        return self.forward.layout.tokens(h.movedim(0, self.forward.layout.batch))

    def _kept(self, keep: Tensor) -> Tensor:
        kept = torch.zeros(len(keep), self.patches, dtype=torch.bool, device=keep.device)
        return kept.scatter(1, keep, True)

    def _check(self, whole: Unmasked, keep: Tensor) -> None:
        if keep.ndim != 2 or len(keep) != len(whole.images) or keep.dtype != torch.int64:
            raise InputError(
                f"keep must hold k patch indices for each of {len(whole.images)} images, int64; "
                f"got {keep.dtype} {tuple(keep.shape)}"
            )
        if keep.numel() and not (int(keep.min()) >= 0 and int(keep.max()) < self.patches):
            raise InputError(
                f"keep must number the {self.patches} patches from 0, without prefix tokens; got "
                f"{int(keep.min())}…{int(keep.max())}"
            )
        if bool((keep.sort(1).values.diff(dim=1) == 0).any()):
            raise InputError("a row of keep names a patch twice")
        if self.cost(keep.shape[1]) == 0:
            raise InputError("no token would be left: keep at least one patch")

    def __str__(self) -> str:
        """Return the mask that is used and, if it is not the one asked for, why."""
        why = f" (not {self.asked.name}: {self.reason})" if self.reason else ""
        return f"{self.used.name}: {self.used.summary}{why}"


def masker(
    model: nn.Module, images: Tensor, mask: str = "drop", *, geometry: Geometry | None = None
) -> Masker:
    """Make a masker for a model, after a trial with random images of the shape of `images`.

    Dropped tokens leave the sequence at h₀; prefix tokens stay, and the others keep their
    positions, whatever these are: absolute, rotary or relative. The trial compares this with −∞ on
    the dropped keys. A model that cannot drop tokens gets the mask "zero", and says so.

    >>> from libragrad.models.mosaic import MosaicViT
    >>> print(masker(MosaicViT().eval(), torch.zeros(1, 3, 64, 64)))
    drop: tokens leave the sequence, the others keep their positions
    """
    asked = used = find_mask(mask)
    if model.training:
        raise InputError("the model is in training mode, its output is random: call model.eval()")
    if images.ndim != 4 or not images.dtype.is_floating_point:
        raise InputError(f"expected images (B, C, H, W); got {images.dtype} {tuple(images.shape)}")
    model = original(model)
    if geometry is None:
        geometry = discover(model, images)
    generator = torch.Generator().manual_seed(0)
    trial = torch.randn(2, *images.shape[1:], generator=generator).to(images)
    forward = startable(Forward(model, geometry.start, geometry.start_layout), trial)
    plan, reason = Plan(), ""
    if asked.name == "drop":
        shortening = try_dropping(forward, trial)
        if shortening.plan is None:
            used, reason = MASKS["zero"], shortening.reason
        else:
            plan = shortening.plan
    return Masker(forward, asked, used, reason, plan)
