"""The judge itself: what is wrong is found, and is called by its name."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from conformance import native, verdict
from conformance.case import Skipped, Subject
from conformance.verdict import judge
from libragrad import LibraGradWarning
from libragrad.rules.table import RULES
from tests.checks import wrong_by


class Model(nn.Module):
    """A small network around one function; randomised by the judge like any other."""

    def __init__(self, function=torch.relu):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.first = nn.Linear(6, 8)
        self.last = nn.Linear(8, 3)
        self.function = function
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.function(self.first(self.norm(x))))


def judged(model: nn.Module, x: Tensor | None = None):
    x = torch.randn(2, 6, generator=torch.Generator().manual_seed(0)) if x is None else x
    return judge("tests", "a model", lambda name: Subject(model.eval(), x))


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


@pytest.mark.parametrize("function", [torch.relu, nn.functional.gelu, torch.tanh, torch.square])
def test_a_balanced_model_is_ok(function):
    row = judged(Model(function))
    assert row.verdict == verdict.OK, row.detail
    assert row.error is not None
    assert row.error < 1e-14
    assert row.unknown == []
    assert row.operations["linear layer"] == 2


def test_a_rule_wrong_by_a_thousandth_is_a_leak_at_its_place(monkeypatch):
    monkeypatch.setitem(RULES, "layer_norm", wrong_by(1e-3, RULES["layer_norm"]))
    row = judged(Model())
    assert row.verdict == verdict.LEAK
    assert row.leaks[0][:2] == ("layer_norm", "norm")


def test_a_rule_that_changes_a_value_is_found(monkeypatch):
    rule = RULES["relu"]

    def off_by_a_bit(call):
        outcome = rule(call)
        outcome.value = outcome.value * (1 + 2.0**-52)
        return outcome

    monkeypatch.setitem(RULES, "relu", off_by_a_bit)
    row = judged(Model())
    assert row.verdict == verdict.DIFFERS
    assert row.detail == "the output"


TOUCHES = {
    "parameter first.weight": lambda model: model.first.weight.data.mul_(2),
    "parameter last.bias": lambda model: model.last.bias.requires_grad_(False),
    "buffer calls": lambda model: model.calls.add_(1),
    "module first": lambda model: model.first.register_forward_hook(lambda *_: None),
    "module norm": lambda model: model.norm.train(),
    "module last": lambda model: setattr(model.last, "__class__", nn.Identity),
}


@pytest.mark.parametrize("what", TOUCHES)
def test_a_touched_model_is_found(what, monkeypatch):
    model = Model()
    rule = RULES["relu"]

    def touching(call):
        outcome = rule(call)
        TOUCHES[what](model)
        return outcome

    monkeypatch.setitem(RULES, "relu", touching)
    # Only after the forward that would show it in the values: the last linear layer runs later.
    monkeypatch.setattr(verdict, "foreign", lambda *_: [])
    row = judged(model)
    assert row.verdict == verdict.TOUCHED
    assert what in row.detail


def test_an_opaque_operation_is_named():
    with pytest.warns(LibraGradWarning, match="CubeBackward"):
        row = judged(Model(Cube.apply))
    assert row.verdict == verdict.LEAK
    assert "CubeBackward" in row.leaks[0][0]
    assert any("CubeBackward" in place for place in row.unknown)


def test_an_operation_without_a_rule_is_named():
    with pytest.warns(LibraGradWarning, match="special_i0"):
        row = judged(Model(torch.special.i0))
    assert row.verdict == verdict.LEAK
    assert row.leaks[0][0] == "special_i0"
    assert row.unknown == ["special_i0 at the model itself"]


def test_a_model_that_computes_in_single_precision_is_said_to():
    def narrow(h):
        return h.float().softmax(-1).double() * h.float().double()

    row = judged(Model(narrow))
    assert row.verdict == verdict.FLOAT32
    assert 1e-12 < row.error < 1e-4


def test_an_output_that_no_gradient_reaches_is_constant():
    row = judged(nn.Sequential(nn.Linear(6, 3), nn.Softmax(-1)))
    assert row.verdict == verdict.CONSTANT


def test_a_refusal_says_why():
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        scripted = torch.jit.script(nn.Linear(3, 3))
    row = judged(nn.Sequential(nn.Linear(6, 3), scripted))
    assert row.verdict == verdict.REFUSED
    assert "torch.jit" in row.detail


def test_a_model_that_does_not_run_is_not_the_engines_fault():
    row = judged(nn.Linear(5, 3))
    assert row.verdict == verdict.NATIVE
    assert "RuntimeError" in row.detail


def test_a_skipped_case_keeps_its_reason():
    def build(name):
        raise Skipped("too large")

    row = judge("tests", "a model", build)
    assert (row.verdict, row.detail) == (verdict.SKIPPED, "too large")


class Doubling(nn.Module):
    """Sixty residual blocks, each of which doubles what it gets, as batch norms in deep nets do."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.BatchNorm1d(6) for _ in range(60))

    def forward(self, x: Tensor) -> Tensor:
        for norm in self.norms:
            x = x + norm(x)
        return x


def test_a_deep_network_is_kept_from_exploding():
    row = judged(Doubling())
    assert row.verdict == verdict.OK
    assert row.output is not None
    assert row.output < 1e4  # without new statistics it is 2⁶⁰


def test_a_weight_that_wants_a_gradient_may_choose_another_kernel(monkeypatch):
    """The forward as it is, frozen, and without gradients: any of the three will do."""
    plain = native.run

    def another(model, inputs):
        found = plain(model, inputs)
        found.outputs = {path: z * (1 + 2.0**-50) for path, z in found.outputs.items()}
        return found

    monkeypatch.setattr(verdict, "run", another)
    assert judged(Model()).verdict == verdict.OK
