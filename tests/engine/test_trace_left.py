"""After the context the model is as it was: values, identities, flags, hooks, classes, states."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules import module as global_hooks

from libragrad import STANDARD, audit, balanced
from tests.engine.networks import convnet, images, vit


def state(model: nn.Module) -> dict[str, Any]:
    """All that a module holds: its own attributes, and of each tensor what it is and how it is."""
    held: dict[str, Any] = {"globals": {k: v for k, v in vars(global_hooks).items() if "hook" in k}}
    for path, module in model.named_modules():
        held[f"{path} is"] = (id(module), type(module))
        for name, item in vars(module).items():
            held[f"{path}.{name}"] = dict(item) if isinstance(item, dict) else item
        for name, x in [*module._parameters.items(), *module._buffers.items()]:
            if x is not None:
                held[f"{path}.{name}"] = of_tensor(x)
    return held


def of_tensor(x: Tensor) -> tuple[Any, ...]:
    identity = id(x), type(x), x.data_ptr(), x._version
    flags = x.requires_grad, x.grad_fn, x.dtype, x.device, x.is_leaf
    extras = dict(vars(x)), dict(x._backward_hooks or {}), x.detach().clone()
    return *identity, *flags, *extras, x.grad, None if x.grad is None else x.grad.clone()


def same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        return isinstance(b, Tensor) and torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    keys = before.keys() | after.keys()
    return sorted(key for key in keys if not same(before.get(key), after.get(key)))


def explain(model: nn.Module) -> None:
    with balanced():
        model(images().requires_grad_())[:, 1].sum().backward()


def explain_and_fail(model: nn.Module) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    hook = list(model.modules())[-1].register_forward_hook(fail)
    try:
        with pytest.raises(ZeroDivisionError), balanced():
            model(images().requires_grad_())
    finally:
        hook.remove()


def fail_in_the_backward(model: nn.Module) -> None:
    def fail(g: Tensor) -> None:
        raise ZeroDivisionError

    x = images().requires_grad_()
    x.register_hook(fail)
    with balanced(), pytest.raises(ZeroDivisionError):
        model(x).sum().backward()


def keep_the_account(model: nn.Module) -> None:
    audit(model, images(), 1)


def keep_the_account_of_a_plain_pass(model: nn.Module) -> None:
    audit(model, images(), 1, STANDARD)


def fail_to_keep_the_account(model: nn.Module) -> None:
    with pytest.raises(RuntimeError):
        audit(model, images()[:, :2], 1)


def fail_in_the_target(model: nn.Module) -> None:
    def fail(output: Tensor) -> Tensor:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        audit(model, images(), fail)


@pytest.mark.parametrize("build", [vit, convnet])
@pytest.mark.parametrize(
    "use",
    [
        explain,
        explain_and_fail,
        fail_in_the_backward,
        keep_the_account,
        keep_the_account_of_a_plain_pass,
        fail_to_keep_the_account,
        fail_in_the_target,
    ],
)
def test_a_model_is_as_it_was(build, use):
    model = build()
    first, *_, last = model.parameters()
    first.requires_grad_(False)
    last.grad = torch.ones_like(last)
    list(model.modules())[-1].train()
    before = state(model)
    use(model)
    assert differences(before, state(model)) == []


def retrained(model: nn.Module) -> None:
    model.train()


def frozen(model: nn.Module) -> None:
    next(model.parameters()).requires_grad_(False)


def moved(model: nn.Module) -> None:
    p = next(model.parameters())
    p.data = p.data.clone()


def hooked(model: nn.Module) -> None:
    next(model.modules()).register_forward_hook(lambda *_: None)


def marked(model: nn.Module) -> None:
    vars(next(model.parameters()))["mark"] = 1


def graded(model: nn.Module) -> None:
    p = next(model.parameters())
    p.grad = torch.zeros_like(p)


@pytest.mark.parametrize("change", [retrained, frozen, moved, hooked, marked, graded])
def test_any_change_would_be_seen(change: Callable[[nn.Module], None]):
    model = vit()
    before = state(model)
    change(model)
    assert differences(before, state(model)) != []


def test_the_inputs_are_as_they_were():
    x = images().requires_grad_()
    x.grad = torch.ones_like(x)
    before = of_tensor(x)
    audit(vit(), x, 1)
    assert same(before, of_tensor(x))


@pytest.mark.parametrize("use", [explain, keep_the_account])
def test_nothing_stays_in_memory(use):
    """What a pass has made is freed when it ends, without the garbage collector."""
    model = vit()
    use(model)
    gc.collect()
    gc.disable()
    try:
        before = sum(issubclass(type(x), Tensor) for x in gc.get_objects())
        use(model)
        assert sum(issubclass(type(x), Tensor) for x in gc.get_objects()) == before
    finally:
        gc.enable()
