"""Products: value ⊙ value, gate ⊙ value, and the same for matrix products and convolutions.

A product of n values counts everything n times, FullGrad(f) = n f, because it is n-homogeneous.
Theorem (self-gating): giving the branches shares a₁ + … + aₙ = 1 restores completeness; by symmetry
each gets 1/n. Theorem (pruning): of a gate and a value, only the value is complete, so the gate is
constant. With a constant factor a product is linear.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor

from libragrad.operators import constant, scale, swap_backward
from libragrad.presets import CONSTANT, HALVES, OWN, Treatment
from libragrad.rules.affine import weighted
from libragrad.rules.call import Call, Outcome, substitute
from libragrad.rules.division import reciprocal
from libragrad.rules.frozen_linear import FrozenLinear
from libragrad.rules.secant import root, secant
from libragrad.rules.status import Status, common, status_of


def elementwise_product(call: Call) -> Outcome:
    """a ⊙ b (mul)."""
    return _product(call, call.live, matrix=False)


def matrix_product(call: Call) -> Outcome:
    """a @ b, and any other multilinear contraction (bmm, einsum, outer)."""
    outcome = _product(call, call.live, matrix=True)
    if call.on_parameters:
        outcome.value = swap_backward(call.as_given(), outcome.value)
    return outcome


def linear_layer(call: Call) -> Outcome:
    """x Wᵀ + b: with constant W an affine map, with live W a matrix product."""
    names = ("input", "weight", "bias")
    given = call.named(*names)
    x, b = given["input"], given.get("bias")
    if any(t is not x for t in call.live):
        return _layer(call, names, _row)
    return weighted(FrozenLinear.apply(x, given["weight"], call.as_given), b)


def convolution(call: Call) -> Outcome:
    """w ∗ x + b, transposed or not."""
    rank = {"1": 1, "2": 2, "3": 3}
    dims = rank.get(call.name[-2], 0)
    return _layer(call, ("input", "weight", "bias"), partial(_channels, dims=dims))


def added_product(call: Call) -> Outcome:
    """Give c + a @ b (addmm, baddbmm, addcmul): a sum of c and a product."""
    positional = list(call.args) if call.args else [call.kwargs["input"]]
    c, *factors = [*positional, *(call.kwargs[name] for name in _FACTORS if name in call.kwargs)]
    live = [x for x in factors if isinstance(x, Tensor) and x.requires_grad]
    swaps, share, _ = shares(call, live, matrix=call.name != "addcmul")
    for x in live:
        if id(x) not in swaps and share != 1:
            swaps[id(x)] = scale(x, share)
    args, kwargs = substitute((call.args, call.kwargs), swaps)
    if call.args:  # c may be one of the factors too, and is no factor in its own place
        value = call.native(c, *args[1:], **kwargs)
    else:
        value = call.native(**{**kwargs, "input": c})
    if isinstance(c, Tensor) and c.requires_grad:
        return Outcome(value)
    beta = call.kwargs.get("beta", 1)
    return Outcome(value, Status.VALUE, lambda: c * beta)


_FACTORS = ("mat", "vec", "mat1", "mat2", "batch1", "batch2", "tensor1", "tensor2")


def power(call: Call) -> Outcome:
    """xⁿ = x ⊙ [xⁿ⁻¹]const for a constant n ≥ 1: the n-fold product, by its theorem."""
    x, n = _base_and_exponent(call)
    if not isinstance(n, (int, float)):
        return secant(call)  # aˣ, x^y: an exponential
    if n <= 0:
        return reciprocal(call)
    if n < 1:
        return root(call)
    if call.preset.self_gating is OWN:
        return Outcome(call.run(), common([x]))
    return Outcome(scale(call.run(), 1 / n), common([x]))


def _base_and_exponent(call: Call) -> tuple[Tensor, object]:
    if call.name == "square":
        return call.live[0], 2
    given = call.named("input", "exponent")
    x, n = given.get("input", given.get("self")), given["exponent"]
    if call.name == "rpow":
        x, n = n, x
    if isinstance(n, Tensor) and n.numel() == 1 and not n.requires_grad:
        n = n.item()
    return (x, n) if isinstance(x, Tensor) and x.requires_grad else (call.live[0], None)


def product_over(call: Call) -> Outcome:
    """∏ᵢ xᵢ over n entries: each gets 1/n."""
    value = call.run()
    if call.preset.self_gating is OWN:
        return Outcome(value, common(call.live))
    n = call.live[0].numel() / max(value.numel(), 1)
    return Outcome(scale(value, 1 / n), common(call.live))


def variance(call: Call) -> Outcome:
    """Compute a variance, 2-homogeneous: half of the gradient (std is 1-homogeneous)."""
    share = 1.0 if call.preset.self_gating is OWN else 0.5
    value = call.run()
    if isinstance(value, Tensor):
        return Outcome(scale(value, share), common(call.live))
    variance, mean = value  # var_mean
    return Outcome((scale(variance, share), mean), common(call.live))


def glu(call: Call) -> Outcome:
    """F.glu: a ⊙ σ(b), where σ(b) is a gate."""
    if call.preset.activation is OWN:
        return Outcome(call.run())
    x = call.live[0]
    a, b = x.chunk(2, dim=call.named("input", "dim").get("dim", -1))
    return Outcome(swap_backward(call.pruned(), a * constant(b).sigmoid()))


def polar(call: Call) -> Outcome:
    """Return r e^{iθ}: linear in the radius; the angle is a gate."""
    if call.preset.activation is not CONSTANT:
        return Outcome(call.run())
    angle = call.named("abs", "angle")["angle"]
    return Outcome(call.run_with({id(angle): constant(angle)}))


def shares(
    call: Call, live: list[Tensor], *, matrix: bool
) -> tuple[dict[int, Tensor], float, Status]:
    """Decide what each live factor of a product gets: (the pruned ones, the share, the status)."""
    preset = call.preset
    rest = live
    if len(live) > 1:
        gates = [x for x in live if _prunable(call, x)]
        if 0 < len(gates) < len(live):
            pruned = {id(x) for x in gates}
            rest = [x for x in live if id(x) not in pruned]
    treatment = preset.attention if matrix else preset.self_gating
    if len(rest) > 1:
        statuses = {status_of(x) for x in rest}
        if Status.WEIGHTS in statuses:
            treatment = preset.attention
        elif any(s.gates and getattr(preset, s.value) is OWN for s in statuses):
            treatment = OWN
        elif treatment is CONSTANT and not matrix:
            values = [x for x in rest if status_of(x) is not Status.ACTIVATED]
            rest = values or rest
            treatment = HALVES
    kept = {id(x) for x in rest}
    swaps = {id(x): constant(x) for x in live if id(x) not in kept}
    share = 1.0 if treatment is OWN or len(rest) < 2 else 1 / len(rest)
    return swaps, share, common(rest) if rest else Status.VALUE


def _prunable(call: Call, x: Tensor) -> bool:
    status = status_of(x)
    if not status.gates:
        return False
    treatment: Treatment = getattr(call.preset, status.value)
    return treatment is CONSTANT


def _product(call: Call, live: list[Tensor], *, matrix: bool) -> Outcome:
    swaps, share, status = shares(call, live, matrix=matrix)
    value = scale(call.run_with(swaps) if swaps else call.run(), share)
    single = len(live) == 1
    if matrix and (single or not status.gates):
        status = Status.VALUE
    kind = "product with a constant" if single else "gate × value" if swaps else "value × value"
    return Outcome(value, status, rule=kind)


def _layer(call: Call, names: tuple[str, ...], place: Any) -> Outcome:
    given = call.named(*names)
    x, weight, b = given["input"], given["weight"], given.get("bias")
    factors = [t for t in (x, weight) if t.requires_grad]
    if len(factors) < 2:
        value = call.run()
    else:
        swaps, share, _ = shares(call, factors, matrix=True)
        for t in factors:
            if id(t) not in swaps and share != 1:
                swaps[id(t)] = scale(t, share)
        value = call.run_with(swaps)
    if b is None or b.requires_grad:
        return Outcome(value)
    return Outcome(value, Status.VALUE, lambda: place(b))


def _row(b: Tensor) -> Tensor:
    return b


def _channels(b: Tensor, dims: int) -> Tensor:
    return b.reshape(-1, *[1] * dims)
