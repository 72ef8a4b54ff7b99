"""The audit: does the account balance, and if not, which operation breaks it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from libragrad.engine.account import Account
from libragrad.engine.balanced import balanced
from libragrad.engine.inputs import original, prepare
from libragrad.engine.places import Place, Places
from libragrad.engine.target import scalars
from libragrad.engine.tracing import dot
from libragrad.errors import InputError
from libragrad.presets import LIBRA, Preset
from libragrad.targets.specs import Target


class Leak(NamedTuple):
    """How much of the output one operation, at one place, leaves unexplained."""

    operation: str
    module: str
    leak: float


@dataclass(frozen=True)
class Audit:
    """The account of a scalar y: output = inputs + Σ biases + error, error = Σ leaks."""

    preset: Preset
    output: float
    """y, summed over the batch."""
    inputs: float
    """Σ input ⊙ ∂y/∂input."""
    biases: dict[Place, float]
    """⟨b, ∂y/∂z⟩ of every additive constant, by the place where it enters."""
    leaks: list[Leak]
    """Largest first; they sum to the error."""
    unknown: list[Place]
    """Operations met without a rule: PyTorch's own gradient was kept."""
    operations: dict[str, int]
    """How many operations each rule served."""

    @property
    def explained(self) -> float:
        """The part of the output that inputs and biases account for."""
        return self.inputs + sum(self.biases.values())

    @property
    def error(self) -> float:
        """The completeness error: output − explained."""
        return self.output - self.explained

    @property
    def relative_error(self) -> float:
        """|error| / |output|."""
        return abs(self.error) / max(abs(self.output), 1e-300)

    def by_operation(self) -> dict[str, float]:
        """Return the leaks summed by operation, largest first."""
        sums: dict[str, float] = {}
        for leak in self.leaks:
            sums[leak.operation] = sums.get(leak.operation, 0.0) + leak.leak
        return dict(sorted(sums.items(), key=lambda item: -abs(item[1])))

    def __str__(self) -> str:
        """Return the account as a table."""
        from libragrad.engine.report import as_text

        return as_text(self)


def audit(
    model: nn.Module,
    inputs: Tensor | Sequence[Any] | Mapping[str, Any],
    target: Target = None,
    preset: Preset = LIBRA,
) -> Audit:
    """Run one forward and one backward under `preset` and return the account of the output.

        y = Σ input ⊙ ∂y/∂input + Σ_b ⟨b, ∂y/∂z_b⟩ + error
        leak(op) = ⟨g_out, out⟩ − Σ⟨g_in, in⟩ − ⟨g_out, b⟩,    error = Σ leak(op)

    `inputs` is what the model takes: a tensor, a tuple, or a dictionary of keyword arguments. For
    integer tokens the embeddings are the explained input. `target` is an index, a tensor of indices
    (one an example), a callable on the output, or None for each example's largest output.

    >>> model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 2)).double()
    >>> account = audit(model, torch.randn(3, 4, dtype=torch.double), target=1)
    >>> account.relative_error < 1e-12, account.unknown
    (True, [])
    """
    with torch.inference_mode(False), torch.enable_grad():
        return _kept(original(model), inputs, target, preset)


def _kept(
    model: nn.Module,
    inputs: Tensor | Sequence[Any] | Mapping[str, Any],
    target: Target,
    preset: Preset,
) -> Audit:
    """Keep the account, wherever the caller's grad mode has been seen to."""
    given = prepare(inputs)
    account = Account(Places(model), given.leaves, given.tokens)
    with balanced(preset, listener=account) as mode:
        output = given.call(model)
    mode.left(output)
    y = scalars(output, target).sum()
    if not account.leaves:
        raise InputError(
            "nothing to explain: the inputs hold no floating-point tensor, and no embedding of "
            "the integer ones was met"
        )
    if y.requires_grad:
        _backward(y, model, account, balanced(preset, listener=account))
    else:
        account.biases[Place("constant", "")] += float(y)
    total = float(y.detach())
    from_inputs = sum(dot(x.grad, x.detach()) for x in account.leaves if x.grad is not None)
    error = total - from_inputs - sum(account.biases.values())
    return Audit(
        preset,
        total,
        from_inputs,
        dict(account.biases),
        _leaks(account, error, _noise(y, error) if callable(target) else math.inf),
        account.unknown + account.opaques,
        dict(account.rules.most_common()),
    )


def _backward(y: Tensor, model: nn.Module, account: Account, context: balanced) -> None:
    """Fill the gradients of the explained leaves, and no other's.

    Under the preset again, because a checkpointed block runs its forward once more here; with
    backward() and not grad(), which reentrant checkpoints refuse. Parameters are constants to every
    operation that was seen; one inside an opaque region gets its old gradient back.
    """
    account.replays = True
    before = [(p, p.grad) for p in (*model.parameters(), *account.strangers)]
    for p, _ in before:
        p.grad = None
    try:
        with context:
            y.backward()
        account.settle()
    finally:
        for p, grad in before:
            p.grad = grad


def _noise(y: Tensor, error: float) -> float:
    """Return what rounding alone can hardly exceed."""
    return math.sqrt(torch.finfo(y.dtype).eps) * max(abs(float(y.detach())), abs(error))


def _leaks(account: Account, error: float, noise: float) -> list[Leak]:
    """Sort the leaks; what no seen operation explains belongs to what was not seen.

    That is a region that hides its operations or, above the noise, a target that is a function.
    """
    leaks = [
        Leak(place.operation, place.module, amount) for place, amount in account.shares.items()
    ]
    rest = error - sum(leak.leak for leak in leaks)
    names = dict.fromkeys(place.operation for place in account.opaques)
    modules = ", ".join(dict.fromkeys(place.module for place in account.opaques))
    if abs(rest) > noise:
        names["(target)"] = None
    leaks.append(Leak(", ".join(names) or "(rounding)", modules, rest))
    return sorted(leaks, key=lambda leak: -abs(leak.leak))
