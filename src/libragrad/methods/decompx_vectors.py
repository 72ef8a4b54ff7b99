"""DecompX itself: beside each tensor goes its decomposition into a vector for each source token.

Modarressi et al., DecompX (ACL 2023). A tensor x that depends on the tokens is

    x = Σ_t x_t + rest,        x_t what token t of h₀ gave, rest what additive constants gave,

with no share of the rest for the tokens ("no bias"). At the first block token t is its own vector:
x_t is h₀ where the token is t, else 0. From there on each operation maps the vectors by its linear
part, all that is not linear being constant, as it is at x:

    linear map, W x + b                L(x_t), W x_t
    (x − μ) / σ ⊙ γ + β                (x_t − μ(x_t)) / σ(x) ⊙ γ
    f(x) = x ⊙ γ(x), γ = f(x) / x      x_t ⊙ γ(x)
    A(x) V                             A(x) V_t

So the vectors of a logit are numbers, and these are Input×Grad under the preset DECOMPX
(`method="decompx"`), which needs one backward instead of N times a forward's memory. This is the
definition that the gradient is tested against. It works at the level of operations, on any model
whose operations it knows, and refuses the others by name; products of two tensors that both carry
vectors (gated MLPs) are not part of DecompX.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from libragrad.engine.inputs import prepare
from libragrad.engine.naming import spelling_of
from libragrad.engine.opening import opened
from libragrad.errors import MethodError
from libragrad.geometry.discover import discover
from libragrad.geometry.layout import Layout
from libragrad.methods.vectors import VECTOR_RULES, Operation
from libragrad.observation.hooks import Entrance
from libragrad.rules.call import tensors_in
from libragrad.targets.output import main_tensor

_VECTORS = "_libragrad_vectors"


@dataclass(frozen=True)
class Decomposition:
    """What each token gave to each output: output = Σ_t tokens[:, t] + rest."""

    tokens: Tensor
    """(B, N, outputs), prefix tokens first."""
    rest: Tensor
    """What additive constants gave, (B, outputs)."""
    output: Tensor
    """(B, outputs)."""
    layout: Layout


def decompose(model: nn.Module, inputs: Any, **found: Any) -> Decomposition:
    """Carry the vectors of all tokens from h₀ to the output (B, outputs), for all outputs at once.

    `found` names parts of the geometry, as in `libragrad.explain`.

    >>> from libragrad.models.mosaic import MosaicViT
    >>> d = decompose(MosaicViT(depth=1), torch.ones(1, 3, 64, 64))
    >>> d.tokens.shape, torch.allclose(d.output, d.tokens.sum(1) + d.rest)
    (torch.Size([1, 257, 10]), True)
    """
    given = prepare(inputs)
    geometry = discover(model, given.kwargs or given.args, **found)
    layout = geometry.start_layout
    mode = Vectors(layout)
    entrance = Entrance(0, geometry.start.call, mode.enter)
    module = model.get_submodule(geometry.start.module)
    handle = module.register_forward_pre_hook(entrance, with_kwargs=True)
    try:
        with torch.no_grad(), mode:
            output = model(*given.args, **given.kwargs)
    finally:
        handle.remove()
    logits = main_tensor(output)
    vectors = getattr(logits, _VECTORS, None)
    if vectors is None:
        raise MethodError("DecompX: the output carries no vectors; no tokens were met on the way")
    tokens = vectors.movedim(0, 1)
    return Decomposition(tokens, logits - tokens.sum(1), logits, layout)


class Vectors(TorchFunctionMode):
    """Carries, as an attribute of each tensor x, its vectors (N, *x.shape).

    What depends on the tokens and has no vectors (scores on their way into a softmax) carries None.
    """

    def __init__(self, layout: Layout) -> None:
        """Remember how h₀ lies."""
        super().__init__()
        self.layout = layout

    def enter(self, layer: int, h: Tensor) -> None:
        """Token t of h₀ is its own vector. Runs outside the mode's own operations."""
        with torch._C.DisableTorchFunction():
            shape = list(h.shape)
            shape[self.layout.channel] = 1
            places = torch.arange(torch.Size(shape).numel(), device=h.device).view(shape)
            order = self.layout.tokens(places)[..., 0]  # (B, N): where token t is
            vectors = h.new_zeros(self.layout.count, *h.shape)
            for t in range(self.layout.count):
                here = torch.isin(places, order[:, t]).expand(h.shape)
                vectors[t] = torch.where(here, h, 0)
            setattr(h, _VECTORS, vectors)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run one operation on the tensors, and its linear part on their vectors."""
        kwargs = kwargs or {}
        given = {id(x): x for x in tensors_in((args, kwargs)) if hasattr(x, _VECTORS)}
        if not given:
            return func(*args, **kwargs)
        name, in_place = spelling_of(func)
        rule = VECTOR_RULES.get(name)
        if rule is None:
            body = opened(func)
            if body is None:
                return self._without_rule(func, name, args, kwargs)
            with self:
                return body(*args, **kwargs)
        known = {key: getattr(x, _VECTORS) for key, x in given.items()}
        operation = Operation(name, func, args, kwargs, given, known, in_place)
        vectors = None if operation.pending and rule.waits else rule.linear_part(operation)
        result = func(*args, **kwargs)
        if not rule.constant:
            _attach(result, vectors)
        return result

    def _without_rule(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        made = [x for x in tensors_in(result) if x.is_floating_point()]
        if made or result is None:  # None: it has written into a tensor
            raise MethodError(
                f"DecompX does not apply here: it has no rule for the operation {name!r}. "
                'Take its gradient equivalent, method="decompx".'
            )
        return result  # a shape, a flag, an index


def _attach(result: Any, vectors: Any) -> None:
    results = list(tensors_in(result))
    each = [None] * len(results) if vectors is None else list(tensors_in(vectors))
    for x, own in zip(results, each, strict=True):
        setattr(x, _VECTORS, own)
