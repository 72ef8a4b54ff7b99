"""Hooks on one operation: its biases, and its own share of the account (the leak)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

from libragrad.engine.listener import Listener
from libragrad.engine.places import Place
from libragrad.rules.call import Call, Outcome, Rule, substitute, tensors_in
from libragrad.rules.status import MARK, mark, status_of

_COPY = "_libragrad_copy"


def counted(listener: Listener, outcome: Outcome, place: Place) -> None:
    """Tell the listener of the additive constant that enters at the outcome, if there is one."""
    z = outcome.value
    if outcome.bias is None or not isinstance(z, Tensor) or not z.requires_grad:
        return
    b = outcome.bias()
    if b is not None:
        listener.entered(place, b, z)


def traced(listener: Listener, rule: Rule, call: Call, place: Place) -> Outcome:
    """Run a rule between two hooks: leak(op) = ⟨g_out, out⟩ − Σ⟨g_in, in⟩ (− ⟨g_out, b⟩).

    A rule that writes its operation out leaves the books to the operations that it is made of.
    """
    meters = _Meters(listener, place)
    views = {id(x): _named_apart(x) for x in call.live}
    for x in {id(x): x for x in call.live}.values():
        views[id(x)].register_hook(meters.meter(x, -1.0))
    args, kwargs = substitute((call.args, call.kwargs), views)
    live = [views[id(x)] for x in call.live]  # one tensor may stand in two places: x @ xᵀ
    inner = dataclasses.replace(
        call, args=args, kwargs=kwargs, live=live, mode=lambda: meters.left_to(call.mode())
    )
    outcome = rule(inner)
    for x in tensors_in(outcome.value):
        if x.requires_grad and x.grad_fn is not None:
            x.register_hook(meters.meter(x, 1.0))
    return outcome


def _named_apart(x: Tensor) -> Tensor:
    """Return x under another name, so that only this operation's gradient meets its hook."""
    apart: Tensor = torch.ops.aten.alias(x)  # `view` may restride, and a kernel may sum differently
    if hasattr(x, MARK):
        mark(apart, status_of(x))
    return apart


class _Meters:
    """The hooks of one operation."""

    def __init__(self, listener: Listener, place: Place) -> None:
        self.listener = listener
        self.place = place
        self.on = True

    def left_to(self, parts: AbstractContextManager[Any]) -> AbstractContextManager[Any]:
        """Stop, because the parts of the operation have meters of their own."""
        self.on = False
        return parts

    def meter(self, x: Tensor, sign: float) -> Callable[[Tensor | None], None]:
        """Return a hook that books sign · ⟨g, x⟩."""
        value = _as_it_is(x)

        def hook(g: Tensor | None) -> None:
            if g is not None and self.on:
                self.listener.share(self.place, sign * dot(g, value))

        return hook


def _as_it_is(x: Tensor) -> Tensor:
    """Copy x, since a later in-place operation must not change what was met; once a version."""
    version, copy = getattr(x, _COPY, (None, x))
    if version != x._version:
        copy = x.detach().clone()
        setattr(x, _COPY, (x._version, copy))
    return copy


def descends(x: Tensor, leaves: list[Tensor]) -> bool:
    """Say whether the recorded history of x begins at one of the leaves.

    >>> x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    >>> descends(x * w, [x]), descends(w.exp(), [x])
    (True, False)
    """
    nodes: list[Any] = [x.grad_fn]
    seen: set[Any] = {None}
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)  # a leaf's own node has it
        if any(variable is leaf for leaf in leaves):
            return True
        nodes += [before for before, _ in node.next_functions]
    return False


def dot(g: Tensor, x: Tensor) -> float:
    """Return Re ⟨g, x⟩ in double precision. An infinite x without a gradient (a mask) adds nothing.

    >>> dot(torch.tensor([0.0, 2.0]), torch.tensor([-torch.inf, 3.0]))
    6.0
    """
    terms = g.to(_double(g)) * x.to(_double(x)).conj()
    total = terms.sum()
    if not torch.isfinite(total):
        total = terms[torch.broadcast_to(g != 0, terms.shape)].sum()
    return float(total.real if total.is_complex() else total)


def _double(x: Tensor) -> torch.dtype:
    return torch.complex128 if x.is_complex() else torch.float64
