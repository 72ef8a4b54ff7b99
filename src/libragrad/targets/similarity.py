"""Cosine similarity of an image's features with the directions of some prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from libragrad.presets import Treatment


@dataclass(frozen=True)
class Directions:
    """What the text tower says of the prompts: a unit vector t_p for each."""

    prompts: tuple[str, ...]
    units: Tensor
    """(P, D), each of norm 1."""
    scale: Tensor | float = 1.0
    """The temperature that the model multiplies each cosine with."""
    bias: Tensor | float = 0.0
    """What it adds, as SigLIP does."""
    norm: Treatment = Treatment.CONSTANT
    """Whether ‖f‖ is constant in the backward, or keeps its own gradient."""


class Similarity(NamedTuple):
    """The output of an image tower, with the prompts that it is compared with.

        z_p = scale · ⟨f, t_p⟩ / ‖f‖ + bias

    The features f are what the model computes; the cosine is taken by whoever asks for `logits`.
    With ‖f‖ constant, ⟨∂z/∂f, f⟩ = z − bias: the image accounts for the similarity. With its own
    gradient ⟨∂z/∂f, f⟩ = 0: the length of f does not matter, so a map of f sums to nothing. Such
    a map contrasts what speaks for the prompt with what speaks against, and cannot be complete.

    >>> import torch
    >>> text = Directions(("up", "right"), torch.eye(2), scale=10.0)
    >>> Similarity(torch.tensor([[3.0, 4.0]]), text).logits
    tensor([[6., 8.]])
    """

    features: Tensor
    """f (B, D), not normalised."""
    directions: Directions

    @property
    def logits(self) -> Tensor:
        """Similarities (B, P), one column a prompt."""
        f, text = self.features, self.directions
        norm = f.norm(dim=-1, keepdim=True).clamp_min(1e-12)
        if text.norm is Treatment.CONSTANT:
            norm = norm.detach()
        z: Tensor = (f / norm) @ text.units.to(f).T * text.scale + text.bias
        return z
