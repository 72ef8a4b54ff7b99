"""Deletion curves from logits: what an image contributes at each point."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["accuracy_curve", "agreement", "aopc_curve", "drop", "predicted_label"]


def predicted_label(unmasked: Tensor) -> Tensor:
    """The class of the largest unmasked logit (the first one of equals), (images,).

    >>> import torch
    >>> predicted_label(torch.tensor([[0.0, 2.0, 1.0]])).tolist()
    [1]
    """
    return unmasked.argmax(dim=-1)


def accuracy_curve(unmasked: Tensor, masked: Tensor, reference: Tensor) -> Tensor:
    """c_i(s) = 1[argmax of the logits at point s = reference_i], (images, 1 + steps).

    The mean over images is the accuracy at each point. Point 0 is the unmasked image. The reference
    is the ground-truth label, or `predicted_label(unmasked)`.

    Arguments: `unmasked` logits (images, classes), `masked` logits (images, steps, classes),
    `reference` classes (images,).

    >>> import torch
    >>> unmasked, masked = torch.tensor([[0.0, 2.0]]), torch.tensor([[[0.0, 1.0], [3.0, 0.0]]])
    >>> accuracy_curve(unmasked, masked, torch.tensor([1])).tolist()
    [[1.0, 1.0, 0.0]]
    """
    logits = _points(unmasked, masked, reference)
    return agreement(predicted_label(logits), reference)


def aopc_curve(unmasked: Tensor, masked: Tensor, reference: Tensor) -> Tensor:
    """d_i(s) = p_i(0)[reference_i] − p_i(s)[reference_i], p the softmax, (images, 1 + steps).

    The drop of the probability; its mean over images at a point is the AOPC there ("area over the
    perturbation curve", Samek et al. 2017). Point 0 is 0. A drop is negative where masking raised
    the probability. The softmax is taken in float64. Arguments as in `accuracy_curve`.

    >>> import torch
    >>> unmasked = torch.tensor([[0.0, 0.0]])
    >>> aopc_curve(unmasked, torch.tensor([[[900.0, 0.0]]]), torch.tensor([1])).tolist()
    [[0.0, 0.5]]
    """
    logits = _points(unmasked, masked, reference)
    index = reference[:, None, None].expand(-1, logits.shape[1], 1)
    probability = logits.softmax(dim=-1).gather(-1, index).squeeze(-1)
    return drop(probability)


def agreement(prediction: Tensor, reference: Tensor) -> Tensor:
    """1 where a predicted class (images, points) is the reference (images,): the accuracy curve.

    For predictions that were stored; from logits take `accuracy_curve`.

    >>> import torch
    >>> agreement(torch.tensor([[1, 1, 0]]), torch.tensor([1])).tolist()
    [[1.0, 1.0, 0.0]]
    """
    return (prediction == reference[:, None]).double()


def drop(probability: Tensor) -> Tensor:
    """What of the first point's probability is lost at each point (images, points): the AOPC curve.

    For probabilities of the reference that were stored; from logits take `aopc_curve`.

    >>> import torch
    >>> drop(torch.tensor([[0.75, 0.5, 0.0]])).tolist()
    [[0.0, 0.25, 0.75]]
    """
    return probability[:, :1] - probability


def _points(unmasked: Tensor, masked: Tensor, reference: Tensor) -> Tensor:
    """The checked logits of all points, (images, 1 + steps, classes), float64."""
    shapes = f"unmasked {tuple(unmasked.shape)}, masked {tuple(masked.shape)}"
    if unmasked.ndim != 2 or masked.ndim != 3 or masked.shape[::2] != unmasked.shape:
        raise ValueError(
            f"expected unmasked (images, classes) and masked (images, steps, classes); got {shapes}"
        )
    images, classes = unmasked.shape
    if classes < 2:
        raise ValueError(
            "a single logit z has no rival class; pass the two logits (0, z) instead; got " + shapes
        )
    if reference.shape != (images,) or reference.is_floating_point():
        raise ValueError(
            f"expected one class index an image, shape ({images},); got "
            f"{reference.dtype} of shape {tuple(reference.shape)}"
        )
    if images and not 0 <= int(reference.min()) <= int(reference.max()) < classes:
        raise ValueError(f"reference holds a class outside 0…{classes - 1}")
    logits = torch.cat([unmasked[:, None], masked], dim=1).double()
    if not logits.isfinite().all():
        bad = (~logits.isfinite()).flatten(1).any(dim=1).nonzero().flatten().tolist()
        raise ValueError(f"logits of image(s) {bad} are not finite")
    return logits
