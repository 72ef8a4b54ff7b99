"""Half precision and autocast: the same values bit for bit, the same rules to its rounding."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from libragrad import LIBRA, STANDARD, audit, balanced
from tests.engine.networks import convnet, gradient, images, vit

HALF = [torch.bfloat16, torch.float16]
names = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16"}
EPSILON = {dtype: torch.finfo(dtype).eps for dtype in names}
MODELS = [vit, convnet]


def exact(model: nn.Module) -> Tensor:
    with balanced():
        return gradient(model, images())


def off(g: Tensor, wanted: Tensor) -> float:
    return float((g.double() - wanted).norm() / wanted.norm())


@pytest.mark.parametrize("build", MODELS)
@pytest.mark.parametrize("dtype", names, ids=names.get)
def test_models_in_lower_precision(build, dtype):
    wanted = exact(build())
    model, x = build().to(dtype), images().to(dtype)
    native = model(x)
    with balanced():
        y = model(x.clone().requires_grad_())
        g = gradient(model, x)
    assert torch.equal(y, native)
    assert (y.dtype, g.dtype) == (dtype, dtype)
    assert off(g, wanted) < 16 * EPSILON[dtype]


@pytest.mark.parametrize("build", MODELS)
@pytest.mark.parametrize("preset", [LIBRA, STANDARD], ids=lambda preset: preset.name)
@pytest.mark.parametrize("dtype", HALF, ids=names.get)
def test_under_autocast(build, preset, dtype):
    model, x = build().float(), images().float()
    with torch.autocast("cpu", dtype):
        native = model(x.clone().requires_grad_())
        with balanced(preset):
            y = model(x.clone().requires_grad_())
    with balanced(preset), torch.autocast("cpu", dtype):
        inside = model(x.clone().requires_grad_())
    assert y.dtype is dtype
    assert torch.equal(y, native)
    assert torch.equal(inside, native)


@pytest.mark.parametrize("build", MODELS)
@pytest.mark.parametrize("dtype", HALF, ids=names.get)
def test_the_gradient_under_autocast(build, dtype):
    wanted = exact(build())
    model = build().float()
    with torch.autocast("cpu", dtype), balanced():
        g = gradient(model, images().float())
    assert g.dtype is torch.float32
    assert off(g, wanted) < 16 * EPSILON[dtype]


@pytest.mark.parametrize("build", MODELS)
@pytest.mark.parametrize("dtype", names, ids=names.get)
def test_an_account_balances_to_the_rounding_of_its_type(build, dtype):
    account = audit(build().to(dtype), images().to(dtype), 1)
    assert account.unknown == []
    assert abs(account.error) < 16 * EPSILON[dtype] * max(abs(account.output), 1)
