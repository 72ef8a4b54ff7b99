"""The context manager: what holds inside, and that nothing is left outside."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from libragrad import ALI_LRP, ATTN_LRP, LIBRA, PRESETS, STANDARD, Preset, audit, balanced
from tests.checks import Operation, draw
from tests.engine.networks import convnet, gradient, images, mlp, rows, vit

MODELS = [vit, convnet]
BY_PRESET = pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
BY_MODEL = pytest.mark.parametrize("build", MODELS)


def under(preset: Preset, model: torch.nn.Module, x: Tensor) -> Tensor:
    with balanced(preset):
        return gradient(model, x)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert _get_current_function_mode_stack() == []
    assert _get_current_dispatch_mode_stack() == []
    assert torch.is_grad_enabled()


@BY_MODEL
@BY_PRESET
@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no grad"])
def test_values_are_the_same_bit_for_bit(build, preset, grad):
    model, x = build(), images()
    native = model(x)
    with balanced(preset), torch.set_grad_enabled(grad):
        assert torch.equal(model(x.clone().requires_grad_()), native)


@BY_MODEL
def test_inside_the_gradient_is_another_and_outside_the_own_one(build):
    model, x = build(), images()
    before = gradient(model, x)
    assert not torch.allclose(under(LIBRA, model, x), before)
    torch.testing.assert_close(under(STANDARD, model, x), before)
    assert torch.equal(gradient(model, x), before)


@BY_MODEL
def test_parameters_receive_no_gradient(build):
    model = build()
    with balanced():
        model(images().requires_grad_()).sum().backward()
    assert all(p.grad is None for p in model.parameters())
    assert all(p.requires_grad for p in model.parameters())


@BY_MODEL
def test_a_batch_gives_the_gradients_of_its_images(build):
    model, x = build(), images(3)
    alone = torch.cat([under(LIBRA, model, image) for image in x.split(1)])
    torch.testing.assert_close(under(LIBRA, model, x), alone)


def test_the_backward_may_run_outside():
    model, x = vit(), images().requires_grad_()
    with balanced():
        y = model(x)[:, 1].sum()
    (outside,) = torch.autograd.grad(y, x)
    assert torch.equal(outside, under(LIBRA, model, x.detach()))


def test_the_innermost_preset_counts():
    model, x = vit(), images()
    with balanced(STANDARD):
        inner = under(ATTN_LRP, model, x)
        outer = gradient(model, x)
        with balanced(LIBRA), balanced(ALI_LRP):
            innermost = gradient(model, x)
    assert torch.equal(inner, under(ATTN_LRP, model, x))
    assert torch.equal(outer, under(STANDARD, model, x))
    assert torch.equal(innermost, under(ALI_LRP, model, x))


def test_one_context_may_be_entered_again_and_within_itself():
    model, x, context = vit(), images(), balanced()
    wanted = under(LIBRA, model, x)
    for _ in range(2):
        with context:
            assert torch.equal(gradient(model, x), wanted)
            with context:
                assert torch.equal(gradient(model, x), wanted)
            assert torch.equal(gradient(model, x), wanted)


def test_threads_have_their_own_presets():
    model, x, barrier = vit(), images(), Barrier(4, timeout=30)
    presets = [LIBRA, STANDARD, ATTN_LRP, ALI_LRP]

    def run(preset: Preset) -> Tensor:
        with balanced(preset):
            barrier.wait()
            g = gradient(model, x)
            barrier.wait()
        return g

    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(run, presets))
    assert all(torch.equal(g, under(p, model, x)) for g, p in zip(got, presets, strict=True))


def test_threads_may_share_one_context():
    model, x, context, barrier = vit(), images(), balanced(), Barrier(4, timeout=30)

    def run(seed: int) -> tuple[Tensor, Tensor]:
        with context:
            barrier.wait()
            g = gradient(model, images(seed=seed))
            barrier.wait()
        return g, gradient(model, x)

    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(run, range(4)))
    plain = gradient(model, x)
    for seed, (inside, outside) in enumerate(got):
        assert torch.equal(inside, under(LIBRA, model, images(seed=seed)))
        assert torch.equal(outside, plain)


def test_another_thread_is_not_touched():
    model, x = vit(), images()
    plain = gradient(model, x)
    with balanced(), ThreadPoolExecutor(1) as pool:
        assert torch.equal(pool.submit(gradient, model, x).result(), plain)


def test_a_generator_leaves_when_it_is_closed():
    def gradients() -> Generator[Tensor]:
        with balanced():
            while True:
                yield gradient(mlp(), rows())

    running = gradients()
    inside = next(running)
    running.close()
    assert torch.equal(inside, under(LIBRA, mlp(), rows()))


def test_an_exception_restores_every_level():
    model, x = vit(), images()
    plain, wanted = gradient(model, x), under(LIBRA, model, x)
    with balanced():
        with pytest.raises(ZeroDivisionError), balanced(STANDARD), balanced(ATTN_LRP):
            raise ZeroDivisionError
        assert torch.equal(gradient(model, x), wanted)
    assert torch.equal(gradient(model, x), plain)


def test_an_operation_that_fails_says_what_it_always_says():
    with balanced(), pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        F.linear(rows().requires_grad_(), torch.zeros(3, 3).double())


def test_grad_mode_may_change_inside():
    model, x = vit(), images().requires_grad_()
    with balanced():
        with torch.no_grad():
            quiet = model(x)
        with torch.inference_mode():
            quieter = model(x)
        with torch.no_grad(), torch.enable_grad():
            loud = model(x)
    assert (quiet.requires_grad, quieter.is_inference(), loud.requires_grad) == (False, True, True)
    assert torch.equal(quiet, quieter)
    (g,) = torch.autograd.grad(loud[:, 1].sum(), x)
    assert torch.equal(g, under(LIBRA, model, x.detach()))


@pytest.mark.parametrize("quiet", [torch.no_grad, torch.inference_mode])
def test_inside_no_grad(quiet):
    model, x = vit(), images()
    native = model(x).detach()
    with quiet(), balanced():
        assert torch.equal(model(x), native)


def test_grad_inside_no_grad():
    model, x = vit(), images()
    native = model(x).detach()
    with torch.no_grad(), balanced():
        y = model(x)
        assert not y.requires_grad
        with torch.enable_grad():
            assert torch.equal(gradient(model, x), under(LIBRA, model, x))
    assert torch.equal(y, native)


def test_tensors_from_before_are_values():
    """A history from outside keeps its own gradient; what happens inside is balanced."""
    x = rows().requires_grad_()
    h = x.exp()
    with balanced():
        y = (h * h).sum()
    (g,) = torch.autograd.grad(y, x)
    torch.testing.assert_close(g, (h * h).detach())  # ½ · 2h · h


def test_a_loss_inside_is_balanced_too():
    x = rows().requires_grad_()
    with balanced():
        loss = F.mse_loss(mlp()(x), torch.zeros(2, 3).double())
        loss.backward()
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()


def test_operations_in_place_are_rules_too():
    x = rows().requires_grad_()

    def f(x: Tensor) -> Tensor:
        h = x * 1
        h += 2
        h *= h.sigmoid()
        h[:, 0] = 1
        h.sub_(h.mean(-1, keepdim=True)).div_(h.std(-1, keepdim=True) + 1)
        return h

    def written_out(x: Tensor) -> Tensor:
        h = x + 2
        h = h * h.detach().sigmoid()
        h = torch.cat([torch.ones_like(h[:, :1]), h[:, 1:]], 1)
        h = h - h.mean(-1, keepdim=True)
        return h / (h.std(-1, keepdim=True) + 1).detach()

    with balanced():
        y = f(x)
    assert torch.equal(y, f(x.detach()))
    weights = rows(seed=1)
    (got,) = torch.autograd.grad((y * weights).sum(), x)
    (wanted,) = torch.autograd.grad((written_out(x) * weights).sum(), x)
    torch.testing.assert_close(got, wanted)


def test_an_unmarked_leaf_in_two_places_is_one_input():
    x = rows().requires_grad_()
    with balanced():
        y = (x @ x.T).sum() + (x * x).sum()
    (g,) = torch.autograd.grad(y, x)
    torch.testing.assert_close((g * x).sum().detach(), y.detach())


def test_a_model_may_be_built_and_changed_inside():
    with balanced():
        model = torch.nn.Linear(4, 3).double()
        model.weight.requires_grad = False
        model.bias.grad = torch.ones(3).double()
        model.bias.grad = None
        y = model(rows())
    assert (y.dtype, model.weight.requires_grad, model.bias.grad) == (torch.double, False, None)


def test_dropout_draws_the_same_numbers():
    def f(x: Tensor) -> Tensor:
        h = F.dropout(x, 0.5, training=True)
        y = F.scaled_dot_product_attention(h, h, h, dropout_p=0.5)
        return F.dropout(F.gelu(y), 0.5, training=True, inplace=True)

    def drawn(x: Tensor) -> Tensor:
        torch.manual_seed(0)
        return f(x)

    x = draw(1, 2, 5, 4)
    native = drawn(x)
    with balanced():
        assert torch.equal(drawn(x.clone().requires_grad_()), native)
    torch.manual_seed(0)
    account = audit(Operation(f), x, Tensor.sum)
    assert account.output == float(native.sum())
    assert account.error == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("norm", [torch.nn.InstanceNorm2d, lambda n: torch.nn.GroupNorm(2, n)])
def test_a_norm_may_be_followed_by_an_operation_in_place(norm):
    model = torch.nn.Sequential(norm(4), torch.nn.SiLU(inplace=True)).double()
    native = model(draw(2, 4, 3, 3))
    with balanced():
        assert torch.equal(model(draw(2, 4, 3, 3).requires_grad_()), native)


@pytest.mark.parametrize(
    "made", [lambda w: w.T, lambda w: w[:7], lambda w: 2 * w, lambda w: w.chunk(2)[0]]
)
def test_weights_that_are_made_of_parameters_multiply_in_the_same_order(made):
    """PyTorch folds the batch or not by whether the matrix wants a gradient."""
    w = torch.nn.Parameter(draw(13, 13))
    x = draw(3, 5, 13, seed=1).transpose(0, 1).requires_grad_()
    native = F.linear(x, made(w)), made(w).T[:7].T @ x.mT[:, :7]
    with balanced():
        assert torch.equal(F.linear(x, made(w)), native[0])
        assert torch.equal(made(w).T[:7].T @ x.mT[:, :7], native[1])
