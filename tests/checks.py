"""One checker for every rule: native values, the reference's gradient, an account that balances."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from libragrad import LIBRA, Preset, audit, balanced


def draw(*shape: int, seed: int = 0, positive: bool = False) -> Tensor:
    """Random numbers in float64, the same for the same seed and shape."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x.abs() + 0.5 if positive else x


@dataclass(frozen=True)
class Case:
    """An operation, and the formula whose *plain* autograd gradient is the one prescribed for it.

    The reference gets the inputs and then `one`, a scalar of value 1. Each additive constant b is
    written b * one, so that the bias part of the account is the plain derivative by `one`.
    """

    name: str
    """The operation's name in the table of rules."""
    operation: Callable[..., Any]
    reference: Callable[..., Tensor]
    shapes: tuple[tuple[int, ...], ...] = ((3, 4),)
    note: str = ""
    positive: bool = False
    preset: Preset = LIBRA
    tolerance: float = 1e-12

    def __str__(self) -> str:
        under = "" if self.preset is LIBRA else f" under {self.preset.name}"
        return f"{self.name} {self.note}".strip() + under

    def inputs(self) -> list[Tensor]:
        return [
            draw(*shape, seed=seed, positive=self.positive).requires_grad_()
            for seed, shape in enumerate(self.shapes)
        ]


class Operation(nn.Module):
    """An operation as a model."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def gradients(y: Tensor, inputs: list[Tensor]) -> list[Tensor]:
    """∂y/∂input, zeros where y does not depend on it."""
    if not y.requires_grad:
        return [torch.zeros_like(x) for x in inputs]
    return list(torch.autograd.grad(y, inputs, allow_unused=True, materialize_grads=True))


def one_tensor(output: Any) -> Tensor:
    """The parts of an operation's output in one row."""
    parts = [output] if isinstance(output, Tensor) else list(output)
    return torch.cat([part.reshape(-1) for part in parts if part.dtype.is_floating_point])


def distance(a: Tensor, b: Tensor) -> float:
    """max |a − b| as a share of max |b| (at least 1)."""
    if a.numel() == 0:
        return 0.0
    return float((a - b).abs().max() / b.abs().max().clamp_min(1.0))


def expect(within: bool, case: object, what: str) -> None:
    """Fail in words."""
    if not within:
        raise AssertionError(f"{case}: {what}")


def check(case: Case) -> None:
    """Raise an AssertionError that names the case and what is wrong with its rule."""
    inputs = case.inputs()
    native = one_tensor(case.operation(*(x.detach() for x in inputs))).detach()
    with balanced(case.preset):
        y = one_tensor(case.operation(*inputs))
    # For an attention mask that wants a gradient PyTorch itself takes another kernel.
    values = (native, one_tensor(case.operation(*inputs)))
    same = any(torch.equal(y, value) for value in values)
    expect(same, case, "the value is not the native one, bit for bit")
    g = draw(*native.shape, seed=99)
    one = torch.ones((), dtype=torch.float64, requires_grad=True)
    formula = one_tensor(case.reference(*inputs, one))
    off = distance(formula.detach(), native)
    expect(off < case.tolerance, case, f"the reference has another value, off by {off:.1e}")
    *wanted, by_one = gradients(formula @ g, [*inputs, one])
    got = gradients(y @ g, inputs)
    for index, (a, b) in enumerate(zip(got, wanted, strict=True)):
        off = distance(a, b)
        expect(off < case.tolerance, case, f"the gradient of input {index} is off by {off:.1e}")
    _check_account(case, inputs, g, float((native * g).abs().sum()), float(by_one))


def _check_account(case: Case, inputs: list[Tensor], g: Tensor, size: float, bias: float) -> None:
    """Under LIBRA the account balances; under any preset it counts the same biases."""
    model = Operation(case.operation)
    account = audit(model, tuple(inputs), lambda output: one_tensor(output) @ g, case.preset)
    tolerance = case.tolerance * max(size, 1.0)
    expect(account.unknown == [], case, f"operations without a rule: {account.unknown}")
    counted = sum(account.biases.values())
    within = abs(counted - bias) < tolerance
    expect(within, case, f"the bias part is {counted:.6g}, the reference's {bias:.6g}")
    off = account.error - sum(leak.leak for leak in account.leaks)
    expect(abs(off) < tolerance, case, f"the leaks do not sum to the error: {off:.1e} is left")
    if case.preset is not LIBRA:
        return
    error = f"{account.error:.1e} of {account.output:.3g} is unexplained"
    expect(abs(account.error) < tolerance, case, f"the account does not balance: {error}")
    for name, _, leak in account.leaks:
        expect(abs(leak) < 10 * tolerance, case, f"{name} leaks {leak:.1e}")


def wrong_by(error: float, rule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same rule with every gradient wrong by a factor; a pruned path leaks that factor."""
    from libragrad.operators import scale, swap_backward

    def spoilt(value: Any, live: list[Tensor]) -> Any:
        if not isinstance(value, Tensor):
            return tuple(spoilt(part, live) for part in value)
        if value.requires_grad:
            return scale(value, 1 + error)
        if not value.dtype.is_floating_point:
            return value
        leak = sum((x.sum() for x in live), torch.zeros((), dtype=value.dtype))
        return swap_backward(value, error * leak.expand(value.shape))

    @functools.wraps(rule)
    def wrong(call: Any) -> Any:
        outcome = rule(call)
        outcome.value = spoilt(outcome.value, call.live)
        return outcome

    return wrong
