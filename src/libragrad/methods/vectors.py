"""The linear part of each operation that DecompX knows, applied to the vectors of its operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from libragrad.errors import MethodError
from libragrad.observation.attention import Fused
from libragrad.rules.activation import POLES
from libragrad.rules.affine import affine, linear_map
from libragrad.rules.call import substitute
from libragrad.rules.table import RULES

Part = Callable[["Operation"], Any]


@dataclass(frozen=True)
class Operation:
    """One operation and the vectors of its operands."""

    name: str
    native: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    operands: dict[int, Tensor]
    """The tensors among the arguments that depend on the tokens, by id."""
    vectors: dict[int, Tensor | None]
    """Their vectors (N, *shape); None for what waits for its softmax."""
    in_place: bool

    @property
    def pending(self) -> bool:
        """True if an operand has no vectors."""
        return any(v is None for v in self.vectors.values())

    def named(self, *names: str) -> dict[str, Any]:
        """Return the arguments by name."""
        return {**dict(zip(names, self.args, strict=False)), **self.kwargs}

    def run_with(self, replacements: dict[int, Tensor]) -> Any:
        """Run on other operands; an operation in place gets a copy."""
        args, kwargs = substitute((self.args, self.kwargs), replacements)
        if self.in_place and isinstance(args[0], Tensor):
            args = (args[0].clone(), *args[1:])
        if self.name in ("view", "view_as"):  # what can be viewed may lie otherwise in its vectors
            x, *shape = args
            return x.reshape(shape[0].shape if self.name == "view_as" else _shape(shape))
        return self.native(*args, **kwargs)

    def only(self) -> tuple[Tensor, Tensor]:
        """Return the one operand and its vectors."""
        (key,) = self.operands
        own = self.vectors[key]
        if own is None:
            raise self.refused("of scores outside a softmax")
        return self.operands[key], own

    def refused(self, why: str) -> MethodError:
        """Return the error that says what is not part of DecompX."""
        return MethodError(
            f"DecompX does not apply here: {self.name!r} {why} is not linear in the tokens. "
            'Take its gradient equivalent, method="decompx".'
        )


@dataclass(frozen=True)
class VectorRule:
    """How one kind of operation maps vectors."""

    linear_part: Part
    waits: bool = False
    """Whether scores may pass on their way to a softmax."""
    constant: bool = False
    """Whether the result counts as a constant: attention weights."""


def jointly(op: Operation) -> Any:
    """L(x_t), for an operation that is linear in all its operands together."""
    keys = list(op.operands)
    vectors = [op.vectors[key] for key in keys]
    return torch.vmap(lambda *own: op.run_with(dict(zip(keys, own, strict=True))))(*vectors)


def without_constant(op: Operation) -> Any:
    """f(x_t) − f(0)."""
    zero = op.run_with({key: torch.zeros_like(x) for key, x in op.operands.items()})
    return jointly(op) - zero


def product(op: Operation) -> Any:
    """x_t ⊙ c, A x_t: one factor carries vectors, the others are constant."""
    if len(op.operands) > 1:
        raise op.refused("of two tensors that both depend on the tokens")
    return jointly(op)


def scores(op: Operation) -> Any:
    """A V with constant A; the product of two operands can only be scores, which wait."""
    return None if len(op.operands) > 1 else jointly(op)


def quotient(op: Operation) -> Any:
    """x_t / c; a denominator that depends on the tokens is constant."""
    top = op.named("input", "other").get("input")
    own = op.vectors.get(id(top))
    if own is None:
        raise op.refused("of a constant by a tensor that depends on the tokens")
    return torch.vmap(lambda v: op.run_with({id(top): v}))(own)


def weighted(op: Operation) -> Any:
    """W x_t."""
    given = op.named("input", "weight", "bias")
    key = id(given["input"])
    if set(op.operands) != {key}:
        raise op.refused("with weights that depend on the tokens")
    if op.pending:
        raise op.refused("of scores outside a softmax")
    return jointly(op) if given.get("bias") is None else without_constant(op)


def layer_norm(op: Operation) -> Any:
    """(x_t − μ(x_t)) / σ(x) ⊙ γ."""
    given = op.named("input", "normalized_shape", "weight", "bias", "eps")
    x, own = op.only()
    shape = given["normalized_shape"]
    dims = tuple(range(-(1 if isinstance(shape, int) else len(shape)), 0))
    sigma = (x.var(dims, correction=0, keepdim=True) + given.get("eps", 1e-5)).sqrt()
    return _scaled((own - own.mean(dims, keepdim=True)) / sigma, given.get("weight"))


def rms_norm(op: Operation) -> Any:
    """x_t / rms(x) ⊙ γ."""
    given = op.named("input", "normalized_shape", "weight", "eps")
    x, own = op.only()
    eps = given.get("eps")
    dims = tuple(range(-len(given["normalized_shape"]), 0))
    mean = x.square().mean(dims, keepdim=True)
    return _scaled(
        own / (mean + (torch.finfo(x.dtype).eps if eps is None else eps)).sqrt(),
        given.get("weight"),
    )


def gated(op: Operation, pole: float) -> Any:
    """x_t ⊙ [f(x) / x]."""
    x, own = op.only()
    gate = op.run_with({id(x): x.clone()}) / x
    return own * gate.nan_to_num(nan=pole)


def attention(op: Operation) -> Any:
    """A(x) V_t."""
    given = op.named("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    q, k, v, mask = (given.get(name) for name in ("query", "key", "value", "attn_mask"))
    if not isinstance(q, Tensor) or not isinstance(k, Tensor) or not isinstance(v, Tensor):
        raise op.refused("without query, key and value")
    own = op.vectors.get(id(v))
    if own is None or q.dim() != 4:
        raise op.refused("with values that carry no vectors, or without heads,")
    causal, factor = bool(given.get("is_causal", False)), given.get("scale")
    fused = Fused(q, k, v, mask, causal, factor, q.shape[0])
    parts = fused.some(q.new_zeros(*q.shape[:-1], v.shape[-1]), gradient=False)
    groups = q.shape[1] // k.shape[1]
    own = own.repeat_interleave(groups, 2) if groups > 1 else own
    return torch.cat([a @ own for _, a, _ in parts], dim=-2)


def softmax(op: Operation) -> Any:
    """Attention weights are constant."""
    return None


def _scaled(vectors: Tensor, gamma: Tensor | None) -> Tensor:
    return vectors if gamma is None else vectors * gamma


def _shape(given: list[Any]) -> Any:
    return given[0] if len(given) == 1 and not isinstance(given[0], int) else given


_JOINS = "add sub subtract rsub cat concat concatenate stack pad constant_pad_nd".split()

VECTOR_RULES: dict[str, VectorRule] = {
    **{name: VectorRule(jointly, waits=True) for name, rule in RULES.items() if rule is linear_map},
    **{
        name: VectorRule(without_constant, waits=True)
        for name, rule in RULES.items()
        if rule is affine and name in _JOINS
    },
    "masked_fill": VectorRule(without_constant, waits=True),
    **{name: VectorRule(product, waits=True) for name in ("mul", "multiply")},
    **{name: VectorRule(quotient, waits=True) for name in ("div", "divide", "true_divide")},
    **{name: VectorRule(scores, waits=True) for name in ("matmul", "bmm", "mm", "einsum")},
    "baddbmm": VectorRule(softmax, waits=True),
    **{name: VectorRule(weighted) for name in ("linear", "conv1d", "conv2d", "conv3d")},
    "layer_norm": VectorRule(layer_norm),
    "rms_norm": VectorRule(rms_norm),
    **{name: VectorRule(partial(gated, pole=pole)) for name, pole in POLES.items()},
    **{name: VectorRule(partial(gated, pole=0.0)) for name in ("relu", "leaky_relu")},
    "scaled_dot_product_attention": VectorRule(attention),
    "softmax": VectorRule(softmax, constant=True),
}
"""By the undressed name of the operation."""
