"""Paths: known answers, and the loops that they stand for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, final

import pytest
import torch
from torch import Tensor

from libragrad import (
    LIBRA,
    METHODS,
    PRESETS,
    STANDARD,
    Explainer,
    Integrated,
    Point,
    Smooth,
    explain,
)
from libragrad.methods.method import Method
from libragrad.observation.events import Crossing, Event
from libragrad.observation.observer import Observer
from libragrad.paths import Path
from tests.methods.tiny import agrees, pictures, vit


def along(path: Path, f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Input×Grad of a plain function along a path: Σ_k w_k step_k ⊙ ∂f(x_k)."""
    points = torch.arange(len(path.weights()))
    h = path.at(x, points).detach().requires_grad_()
    (g,) = torch.autograd.grad(f(h).sum(), h)
    step = path.velocity(h.detach(), points)
    return torch.einsum("k,k...->...", path.weights().to(x), step * g)


U = 0.8
TANH = torch.tensor([[U]], dtype=torch.float64)


def test_integrated_gradients_of_tanh_are_its_rise() -> None:
    """Σ IG = tanh(u) − tanh(0), and the trapezoid rule's error falls with the square."""
    wanted = math.tanh(U)
    errors = [float(along(Integrated(n), torch.tanh, TANH)) - wanted for n in (50, 100, 200)]
    assert abs(errors[0]) < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4, rel=1e-3)
    assert errors[1] / errors[2] == pytest.approx(4, rel=1e-3)


def test_the_papers_weighting_misses_it() -> None:
    """∫ α u sech²(α u) dα = tanh(u) − ln cosh(u) / u: 0.301 instead of 0.664."""
    found = float(along(Integrated(100_000, paper=True), torch.tanh, TANH))
    assert found == pytest.approx(math.tanh(U) - math.log(math.cosh(U)) / U, abs=1e-5)
    as_coded = sum(k / 50 * U / math.cosh(k / 50 * U) ** 2 for k in range(1, 51)) / 50
    assert float(along(Integrated(50, paper=True), torch.tanh, TANH)) == pytest.approx(as_coded)


def test_a_line_begins_at_its_baseline() -> None:
    """For x², IG from x′ is x² − x′² without error: its gradient is linear."""
    far = torch.tensor([0.5, -2.0], dtype=torch.float64)
    x = torch.tensor([[3.0, 1.0]], dtype=torch.float64)
    found = along(Integrated(7, baseline=far), torch.square, x)
    assert agrees(found, x.square() - far.square(), 1e-14)


def test_points_of_a_line() -> None:
    x = torch.tensor([[8.0]])
    line = Integrated(4)
    assert line.at(x, torch.arange(5)).flatten().tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert Integrated(4, paper=True).at(x, torch.arange(4)).flatten().tolist() == [
        2.0,
        4.0,
        6.0,
        8.0,
    ]
    assert (
        line.velocity(line.at(x, torch.arange(5)), torch.arange(5)).flatten().tolist() == [8.0] * 5
    )
    assert [line.needs(points) for points in ([0], [1, 2], [4])] == [[0, 1], [0, 1, 2, 3], [3, 4]]


def test_the_mean_of_a_cloud_under_a_linear_gradient() -> None:
    """For x²: x ⊙ mean(2 (x + σ ε)); for a linear f every cloud gives the point's answer."""
    x = torch.tensor([[3.0, 1.0], [0.0, 2.0]], dtype=torch.float64)
    cloud = Smooth(samples=5, noise=0.3)
    mean = cloud.at(x, torch.arange(1, 6)).mean(0)
    assert agrees(along(cloud, torch.square, x), 2 * x * mean, 1e-14)
    assert agrees(along(cloud, lambda h: 3 * h, x), 3 * x, 1e-14)
    assert agrees(along(Point(), torch.square, x), 2 * x.square(), 1e-14)


def test_noise_is_a_share_of_the_spread_and_belongs_to_the_seed() -> None:
    x = torch.tensor([[0.0, 10.0]], dtype=torch.float64).expand(1, 2).repeat(1, 20_000)
    noise = Smooth(noise=0.1).at(x, torch.tensor([1, 2])) - x
    assert noise[0].std() == pytest.approx(1.0, rel=0.02)
    assert float((noise[0] * noise[1]).mean()) == pytest.approx(0.0, abs=0.02)
    again, other = (Smooth(noise=0.1, seed=seed).at(x, torch.tensor([1])) - x for seed in (0, 1))
    assert torch.equal(again[0], noise[0])
    assert not torch.equal(other[0], noise[0])


# --- along a network


FAR = pictures(1, 17, 16, seed=9)[0, 0]
"""A baseline of tokens. At zero, where LayerNorm's σ vanishes, a line is hard to follow."""


def at_alpha(model: Any, x: Tensor, alpha: float, far: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """h = x′ + α (h₀ − x′), the plain gradient there, and y, by a hook."""
    kept: list[Tensor] = []

    def begins(module: Any, inputs: tuple[Tensor]) -> tuple[Tensor]:
        kept.append((far + alpha * (inputs[0].detach() - far)).requires_grad_())
        return (kept[0],)

    handle = model.blocks[0].register_forward_pre_hook(begins)
    y = model(x)[:, 1]
    handle.remove()
    (g,) = torch.autograd.grad(y.sum(), kept[0])
    return kept[0].detach(), g, y.detach()


def rise(model: Any, x: Tensor) -> Tensor:
    return at_alpha(model, x, 1.0, FAR)[2] - at_alpha(model, x, 0.0, FAR)[2]


@pytest.mark.parametrize("far", [None, FAR], ids=["zero", "given"])
def test_integrated_gradients_of_a_vit_are_the_plain_loop(far: Tensor | None) -> None:
    model, x = vit(), pictures()
    start = torch.zeros(17, 16, dtype=torch.float64) if far is None else far
    each = [at_alpha(model, x, k / 10, start) for k in range(11)]
    g = each[0][1] / 20 + sum(one[1] / 10 for one in each[1:-1]) + each[-1][1] / 20
    path = Integrated(10, baseline=far)
    e = explain(model, x, 1, method="input_x_grad", preset=STANDARD, path=path)
    assert agrees(e.tokens, ((each[-1][0] - start) * g).sum(-1))
    assert agrees(e.completeness_error, each[-1][2] - each[0][2] - e.tokens.sum(1))


def test_fifty_steps_are_the_default_and_more_are_more_complete() -> None:
    model, x = vit(), pictures()
    assert Integrated().steps == 50
    errors = []
    for steps in (50, 100):
        path = Integrated(steps, baseline=FAR)
        e = explain(model, x, 1, method="input_x_grad", preset=STANDARD, path=path)
        errors.append(e.completeness_error.abs())
    assert float((errors[0] / rise(model, x).abs()).max()) < 1e-2
    assert bool((errors[1] < errors[0] / 3).all())


@pytest.mark.parametrize("given", [False, True])
def test_a_line_between_pictures_is_complete_against_the_baseline(given: bool) -> None:
    model, x = vit(), pictures()
    far = pictures(1, seed=9)[0] if given else torch.zeros(3, 32, 32, dtype=torch.float64)
    path = Integrated(200, baseline=far if given else None)
    e = explain(model, x, 1, method="input_x_grad", preset=STANDARD, path=path, level="pixels")
    wanted = (model(x) - model(far[None]))[:, 1]
    assert agrees(e.output, model(x)[:, 1])
    assert agrees(e.map.flatten(1).sum(1) + e.completeness_error, wanted)
    assert float(e.completeness_error.abs().max()) < 1e-3


def at_layer(layer: int) -> Method:
    """Input×Grad where one layer begins."""

    @final
    class One(Observer):
        hears = frozenset({Event.CROSSING})

        def crossing(self, at: Crossing) -> None:
            if at.layer == layer:
                self.add(at.input_x_gradient())

    return Method(f"layer {layer}", f"Layer {layer}", "", "", One)


def test_on_the_way_through_every_layer_the_sum_is_the_rise() -> None:
    """∫ g_l · dh_l = y(x) − y(x′) at every layer l, though h_l moves along a curve."""
    model, x = vit(), pictures()
    wanted = rise(model, x)
    errors = []
    for steps in (100, 200):
        found = explain(
            model,
            x,
            1,
            methods=[at_layer(layer) for layer in range(3)],
            preset=STANDARD,
            path=Integrated(steps, baseline=FAR),
        )
        errors.append([float((e.tokens.sum(1) - wanted).abs().max()) for e in found])
    for few, many in zip(*errors, strict=True):
        assert many < 1e-3 * float(wanted.abs().max())
        assert many < few / 3


@contextmanager
def shrunk(model: Any, alpha: float) -> Iterator[None]:
    """h₀ times α."""
    handle = model.blocks[0].register_forward_pre_hook(lambda m, inputs: (alpha * inputs[0],))
    try:
        yield
    finally:
        handle.remove()


@pytest.mark.parametrize("preset", [LIBRA, STANDARD], ids=lambda p: p.name)
def test_the_papers_integration_is_the_mean_of_the_maps_on_the_way(preset: Any) -> None:
    """Every method: (1/K) Σ_k of its whole map at α_k h₀, α_k = k/K."""
    model, x, steps = vit(), pictures(), 3
    methods = [key for key in METHODS if key != "random"]
    settings: dict[str, Any] = {"methods": methods, "preset": preset, "profile": "paper"}
    maps: list[list[Tensor]] = []
    for k in range(1, steps + 1):
        with shrunk(model, k / steps):
            maps.append([e.tokens for e in explain(model, x, 1, **settings)])
    found = explain(model, x, 1, path=Integrated(steps), **settings)
    for e, *each in zip(found, *maps, strict=True):
        assert agrees(e.tokens, torch.stack(each).mean(0)), e.name


@pytest.mark.parametrize("key", ["rollout", "rawatt", "genatt", "tokentm"])
def test_rollouts_on_a_line_are_the_trapezoid_of_rollouts(key: str) -> None:
    """They have no gradient that meets tokens, so there is no velocity in them."""
    model, x = vit(), pictures()
    explainer = Explainer(model, geometry=Explainer(model).geometry(x))
    maps = []
    for k in range(5):
        with shrunk(model, k / 4):
            maps.append(explainer.explain(x, 1, method=key).tokens)
    wanted = maps[0] / 8 + maps[1] / 4 + maps[2] / 4 + maps[3] / 4 + maps[4] / 8
    assert agrees(explainer.explain(x, 1, method=key, path=Integrated(4)).tokens, wanted)


def test_smooth_gradients_of_a_vit_are_the_plain_loop() -> None:
    model, x, cloud = vit(), pictures(), Smooth(samples=4, noise=0.2, seed=3)
    clean = at_alpha(model, x, 1.0, FAR)[0]
    noisy = cloud.at(clean, torch.arange(1, 5))
    g = torch.zeros_like(clean)
    for h in noisy:
        leaf = h.requires_grad_()
        z = model.head(model.norm(model.blocks(leaf))[:, 0])
        g = g + torch.autograd.grad(z[:, 1].sum(), leaf)[0] / 4
    e = explain(model, x, 1, method="input_x_grad", preset=STANDARD, path=cloud)
    assert agrees(e.tokens, (clean * g).sum(-1))


@pytest.mark.parametrize("path", [Integrated(2), Smooth(2)], ids=["integrated", "smooth"])
@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_every_path_goes_with_every_preset_and_method(path: Path, preset: Any) -> None:
    model, x = vit(), pictures(1)
    found = explain(model, x, 1, methods=list(METHODS), preset=preset, path=path)
    point = explain(model, x, 1, methods=list(METHODS), preset=preset)
    for e, at_the_point in zip(found, point, strict=True):
        assert bool(e.tokens.isfinite().all()), e.name
        assert agrees(e.tokens, at_the_point.tokens, 1e-6) == (e.settings.method.key == "random")
        assert e.output == at_the_point.output
