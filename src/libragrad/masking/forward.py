"""A model's forward pass, cut at h₀: up to the tokens, and from any tokens on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.errors import GeometryError, InputError
from libragrad.geometry.geometry import Point
from libragrad.geometry.layout import Layout
from libragrad.masking.following import Follow
from libragrad.rules.call import substitute, tensors_in
from libragrad.targets.output import class_logits, main_tensor

__all__ = ["Forward"]


@dataclass(frozen=True)
class Forward:
    """A model that can be started from its tokens. Tokens here have the batch on axis 0."""

    model: nn.Module
    start: Point
    layout: Layout
    from_one: bool = False
    """Whether one image before h₀ serves any number of token sequences after it."""

    def whole(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output (images, classes) and h₀, in one run."""
        found: list[Tensor] = []

        def keep(h: Tensor) -> Tensor:
            found.append(h.clone().movedim(self.layout.batch, 0))
            return h

        with self._at_start(keep):
            output = self._output(images)
        return output, found[0]

    def from_tokens(self, h: Tensor, images: Tensor, follow: Follow | None = None) -> Tensor:
        """Return the output (images, classes) of a run in which h stands for h₀.

        What the model does before h₀ is done once for `images[:1]`, if that is enough.
        """
        h = h.clone().movedim(0, self.layout.batch)

        def replace(_: Tensor) -> Tensor:
            if follow is not None:
                follow.begin(h)
            return h

        with self._at_start(replace), follow or nullcontext():
            return self._output(images[:1] if self.from_one else images)

    @torch.no_grad()
    def _output(self, images: Tensor) -> Tensor:
        output = self.model(images)
        shape = tuple(main_tensor(output).shape)
        if len(shape) > 2:
            raise InputError(
                f"a masker needs logits (images, classes); the model gave {shape}: wrap it in a "
                "module that returns them"
            )
        logits = class_logits(output)
        # One logit z is two classes of which σ(z) is the probability of the second.
        return logits.z / 2 if logits.binary else logits.z

    @contextmanager
    def _at_start(self, action: Callable[[Tensor], Tensor]) -> Iterator[None]:
        """Let `action` replace the tensor at the start; afterwards nothing is left in the model."""
        calls = count()

        def hook(module: nn.Module, args: Any, kwargs: Any) -> Any:
            if next(calls) != self.start.call:
                return None
            h = next(tensors_in([args, kwargs]))
            return substitute((args, kwargs), {id(h): action(h)})

        module = self.model.get_submodule(self.start.module)
        handle = module.register_forward_pre_hook(hook, with_kwargs=True, prepend=True)
        try:
            yield
        finally:
            handle.remove()
        if next(calls) <= self.start.call:
            raise GeometryError(
                f"the model did not come by {self.start}, where its tokens should be: discover its "
                "geometry with inputs of this kind"
            )
