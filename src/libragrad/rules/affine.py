"""Affine operations: f(x) = L x + b with constant L and b.

Theorem (affine maps are FG-complete): ⟨∂f/∂x, x⟩ + b = f(x). The exact gradient is kept and b is a
bias term. Of the same kind are operations that are 1-homogeneous, f(tx) = t f(x) for t > 0, such as
ReLU, max-pooling, sorting or a norm: Euler's theorem gives ⟨∂f/∂x, x⟩ = f(x).
"""

from __future__ import annotations

import torch
from torch import Tensor

from libragrad.rules.call import Call, Outcome, Tensors, graph_of_its_own, tensors_in
from libragrad.rules.status import Status, common


def linear_map(call: Call) -> Outcome:
    """f(x) = L x, jointly in all its live arguments (views, sums, indexing, pooling, FFT)."""
    return Outcome(call.run(), common(call.live))


def homogeneous(call: Call) -> Outcome:
    """f(tx) = t f(x): ReLU, max, sort, abs, norm. The exact gradient is complete (Euler)."""
    return Outcome(call.run(), common(call.live))


def affine(call: Call) -> Outcome:
    """f(x) = L x + b where b comes from the constants among the arguments (add, cat, where …)."""
    return Outcome(call.run(), common(call.live), lambda: at_zero(call))


def locally_affine(call: Call) -> Outcome:
    """Piecewise affine: clamp, hard-tanh, shrinkage. b = f(x) − J(x) x is what saturates."""
    value = call.run()
    return Outcome(value, common(call.live), lambda: remainder(call))


def piecewise_constant(call: Call) -> Outcome:
    """Sign, round, floor: the derivative is zero, the whole value is a constant."""
    return Outcome(call.pruned())


def at_zero(call: Call) -> Tensor | None:
    """Return b = f(0), or None where f has no constant argument that could add anything."""
    alive = {id(x) for x in call.live}
    given = [call.args, call.kwargs]
    constants = any(id(x) not in alive for x in tensors_in(given))
    if not constants and not _has_numbers(given):
        return None
    with torch.no_grad():
        b = call.run_with({id(x): torch.zeros_like(x) for x in call.live})
    return b if isinstance(b, Tensor) and bool(b.any()) else None


def remainder(call: Call) -> Tensor:
    """Return f(x) − J(x) x for any differentiable f, by one Jacobian–vector product."""
    with graph_of_its_own():
        leaves = {id(x): x.detach().requires_grad_() for x in call.live}
        value: Tensor = call.run_with({key: x * 1 for key, x in leaves.items()})
        # J x as the gradient, with respect to u, of ⟨Jᵀu, x⟩: exact, also where f broadcasts.
        u = torch.zeros_like(value, requires_grad=True)
        pulled = torch.autograd.grad(value, list(leaves.values()), u, create_graph=True)
        along = sum((g * x.detach()).sum() for g, x in zip(pulled, leaves.values(), strict=True))
        assert isinstance(along, Tensor)
        (jx,) = torch.autograd.grad(along, u, allow_unused=True, materialize_grads=True)
    return value.detach() - jx


def weighted(value: Tensors, b: Tensor | None) -> Outcome:
    """Return the outcome of an operation with constant weights: it makes a gate a value again."""
    return Outcome(value, Status.VALUE, None if b is None or b.requires_grad else lambda: b)


def _has_numbers(tree: object) -> bool:
    if isinstance(tree, (tuple, list)):
        return any(_has_numbers(item) for item in tree)
    if isinstance(tree, dict):
        return any(_has_numbers(item) for item in tree.values())
    return isinstance(tree, (int, float, complex)) and not isinstance(tree, bool)
