"""What hides its operations is refused or reported by name; what is compiled is opened."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo import eval_frame

from libragrad import LibraGradWarning, OpaqueModelError, audit, balanced
from libragrad.rules.table import RULES
from tests.checks import Operation
from tests.engine.networks import gradient, mlp, rows


def scripted(what: Any) -> Any:
    with warnings.catch_warnings():  # PyTorch deprecates it
        warnings.simplefilter("ignore")
        return torch.jit.script(what)


def traced(what: Any, x: Tensor) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.trace(what, x)


class Square(torch.autograd.Function):
    """x² with its own gradient, in a form that cannot be looked into."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 2 * x * g


def squared(x: Tensor) -> Tensor:
    y: Tensor = Square.apply(x)
    return y


def warned(f: Callable[[Tensor], Tensor]) -> list[str]:
    """The names that balanced() warns of."""
    x = rows().requires_grad_()
    with warnings.catch_warnings(record=True) as caught, balanced():
        warnings.simplefilter("always")
        f(x).sum()
    assert all(item.category is LibraGradWarning for item in caught)
    return [str(item.message).split("'")[1] for item in caught]


def silu(x: Tensor) -> Tensor:
    return torch.sigmoid(x) * x


def test_a_scripted_model_is_refused():
    with pytest.raises(OpaqueModelError) as error:
        audit(scripted(mlp()), rows(), 1)
    assert str(error.value) == (
        "the model is a torch.jit.RecursiveScriptModule: its operations cannot be seen, "
        "so no rule can be put on them. Pass the original nn.Module."
    )


def test_a_traced_model_is_refused():
    with pytest.raises(OpaqueModelError, match=r"^the model is a torch\.jit\.TopLevelTracedModule"):
        audit(traced(mlp(), rows()), rows(), 1)


def test_a_scripted_part_is_refused_by_its_path():
    model = nn.Sequential(mlp(), nn.Sequential(scripted(nn.Linear(3, 3).double())))
    with pytest.raises(OpaqueModelError, match=r"^1\.0 is a torch\.jit\.RecursiveScriptModule"):
        audit(model, rows(), 1)


def test_a_scripted_function_is_reported():
    f = scripted(silu)
    assert warned(f) == ["MulBackward0"]
    account = audit(Operation(lambda x: f(x) + 1), rows(), 1)
    assert len(account.unknown) == 1  # PyTorch optimises at the second call, and then calls it
    assert account.unknown[0].operation.endswith("DifferentiableGraphBackward")
    assert account.leaks[0].operation == account.unknown[0].operation


def test_a_function_of_one_s_own_is_reported_with_its_leak():
    account = audit(Operation(lambda x: squared(x) + 1), rows(), 1)
    value = float((rows()[:, 1] ** 2).sum())
    assert [place.operation for place in account.unknown] == ["SquareBackward"]
    assert account.leaks[0].operation == "SquareBackward"
    assert account.leaks[0].leak == pytest.approx(-value)  # it counts x² twice
    assert account.error == pytest.approx(-value)
    assert warned(squared) == ["SquareBackward"]


def test_a_region_at_the_very_end_is_reported_too():
    account = audit(Operation(squared), rows(), 1)
    assert [str(place) for place in account.unknown] == ["SquareBackward at the model itself"]
    assert account.leaks[0].operation == "SquareBackward"


@pytest.fixture
def _no_rule_for_squares(monkeypatch):
    monkeypatch.delitem(RULES, "square")


@pytest.mark.usefixtures("_no_rule_for_squares")
def test_an_operation_without_a_rule_is_reported_with_its_leak():
    account = audit(Operation(torch.square), rows(), 1)
    assert [place.operation for place in account.unknown] == ["square"]
    assert account.leaks[0].operation == "square"
    assert account.leaks[0].leak == pytest.approx(-account.output)  # it counts x² twice
    lines = str(account).splitlines()
    assert lines[lines.index("Operations without a rule") + 1] == "  square at the model itself"


@pytest.mark.usefixtures("_no_rule_for_squares")
def test_the_warning_says_what_to_do():
    x = rows().requires_grad_()
    with balanced(), pytest.warns(LibraGradWarning) as caught:
        torch.square(torch.square(x))
    assert [str(item.message) for item in caught] == [
        "the operation 'square' has no rule under the preset Libra: it keeps its own gradient, "
        "so an explanation may not add up. libragrad.audit(model, inputs) shows by how much."
    ]
    assert caught[0].filename == __file__


@pytest.mark.usefixtures("_no_rule_for_squares")
def test_an_operation_without_a_rule_is_silent_where_nothing_depends_on_it():
    assert warned(lambda x: x.sum() + torch.square(rows())) == []


def test_operations_under_vmap_are_reported():
    model = mlp()
    assert warned(torch.func.vmap(model)) == ["AddBackward0"]
    account = audit(Operation(torch.func.vmap(model)), rows(), 1)
    assert [place.operation for place in account.unknown] == ["AddBackward0"]


def balanced_gradient(model: nn.Module) -> Tensor:
    with balanced():
        return gradient(model, rows())


@pytest.mark.parametrize("warm", [False, True], ids=["fresh", "compiled before"])
def test_a_compiled_model_is_explained_through_its_original(warm):
    model = mlp()
    compiled: Any = torch.compile(model, backend="eager")
    if warm:
        compiled(rows())
    assert torch.equal(balanced_gradient(compiled), balanced_gradient(model))
    assert audit(compiled, rows(), 1).relative_error < 1e-12
    assert torch.equal(compiled(rows()), model(rows()))


def test_a_compiled_part_is_opened_too():
    part: Any = torch.compile(nn.GELU(), backend="eager")
    model = nn.Sequential(mlp(), part)
    account = audit(model, rows(), 1)
    assert account.relative_error < 1e-12
    assert account.operations["gated activation"] == 2


def test_threads_that_leave_in_any_order_leave_compilation_as_it_was():
    compiled: Any = torch.compile(mlp(), backend="eager")
    compiled(rows())
    before = eval_frame._stance
    entered, left = threading.Event(), threading.Event()

    def enter_first() -> None:
        with balanced():
            entered.set()
            assert left.wait(30)

    def enter_last() -> None:
        assert entered.wait(30)
        with balanced():
            left.set()
            first.result(30)
            assert eval_frame._stance.stance == "force_eager"

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(enter_first)
        pool.submit(enter_last).result(30)
    assert eval_frame._stance == before
