"""Whether and how a model's tokens can leave the sequence: decided by a trial, not by its name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import torch
from torch import Tensor

from libragrad.masking.following import Follow, Plan
from libragrad.masking.forward import Forward
from libragrad.masking.kept import Kept
from libragrad.masking.minus_infinity import MinusInfinity
from libragrad.masking.seeking import Seek

__all__ = ["Shortening", "shortened", "startable", "try_dropping"]


@dataclass(frozen=True)
class Shortening:
    """What the trial found: a plan for the constants, or the reason why tokens cannot leave."""

    plan: Plan | None
    reason: str = ""


def startable(forward: Forward, images: Tensor) -> Forward:
    """Let one image before h₀ serve all token sequences after it, if the model allows it.

    It is allowed if two different images give the very output, bit for bit, that they give alone.
    """
    one = replace(forward, from_one=True)
    output, h = forward.whole(images)
    try:
        same = torch.equal(one.from_tokens(h, images), output)
    except Exception:  # a model may do anything with the size of its batch
        same = False
    return one if same else forward


def try_dropping(forward: Forward, images: Tensor) -> Shortening:
    """Drop tokens twice, other ones of each image and another number each time.

    The first run seeks the constants that must follow. The second carries the plan out and must
    agree with −∞ on the dropped keys, within √ε of the largest logit.
    """
    layout = forward.layout
    patches = prod(layout.grid)
    h = forward.whole(images)[1]
    if h.ndim != 3:
        return Shortening(None, f"h₀ is a map {tuple(h.shape)}, not a sequence")
    if patches < 3:
        return Shortening(None, f"{patches} patches are too few to try it")
    counts = patches * 2 // 3, patches // 2 + 1
    first, second = (_subsets(len(h), patches, k).to(h.device) for k in counts)
    reason = ""
    for sizes in (False, True):
        seek = Seek(Kept.of(first, layout), sizes)
        try:
            forward.from_tokens(shortened(h, seek.kept), images, seek)
            output = run(forward, h, images, Kept.of(second, layout), seek.plan)
            reference = _by_minus_infinity(forward, images, second)
        except Exception as error:  # whatever a model does when a length is not the expected one
            reason = reason or f"the trial failed with {_first_line(error)}"
            continue
        distance = _distance(output, reference)
        if distance <= _tolerance(output.dtype):
            return Shortening(seek.plan)
        reason = f"it differs from −∞ on the dropped keys by {distance:.1g} of the largest logit"
    return Shortening(None, reason)


def run(forward: Forward, h: Tensor, images: Tensor, kept: Kept, plan: Plan) -> Tensor:
    """Return the output for h₀ without the tokens that are not kept."""
    everything = kept.tokens.shape[1] == kept.layout.count
    follow = Follow(plan, kept) if plan and not everything else None
    return forward.from_tokens(h if everything else shortened(h, kept), images, follow)


def shortened(h: Tensor, kept: Kept) -> Tensor:
    """Return h (images, …) with the kept tokens alone."""
    layout = kept.layout
    channel = layout.channel % 3 + (layout.channel % 3 < layout.batch)
    index = kept.tokens[:, :, None] if channel == 2 else kept.tokens[:, None, :]
    return h.take_along_dim(index, dim=3 - channel)


def _by_minus_infinity(forward: Forward, images: Tensor, patches: Tensor) -> Tensor:
    kept = torch.zeros(len(images), prod(forward.layout.grid), dtype=torch.bool).to(images.device)
    with MinusInfinity(kept.scatter(1, patches, True), forward.layout):
        return forward.whole(images)[0]


def _subsets(images: int, patches: int, k: int) -> Tensor:
    """Return k patches for each image, other ones for each."""
    generator = torch.Generator().manual_seed(k)
    scores = torch.rand(images, patches, generator=generator)
    return scores.topk(k).indices.sort(1).values


def _distance(output: Tensor, reference: Tensor) -> float:
    if output.shape != reference.shape or not output.isfinite().all():
        return float("inf")
    tiny = torch.finfo(output.dtype).tiny
    return float((output - reference).abs().max() / reference.abs().max().clamp(min=tiny))


def _tolerance(dtype: torch.dtype) -> float:
    """√ε, of single precision at best: some models take their softmax in it, whatever they are."""
    return float(max(torch.finfo(dtype).eps, torch.finfo(torch.float32).eps) ** 0.5)


def _first_line(error: Exception) -> str:
    return ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
