"""The call: what can be asked for, and that the answer does not depend on how it was asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from libragrad import (
    ALI_LRP,
    ATTN_LRP,
    CP_LRP,
    DECOMPX,
    LIBRA,
    METHODS,
    STANDARD,
    Contrast,
    Contrastive,
    Explainer,
    Explanation,
    Integrated,
    Smooth,
    explain,
)
from tests.methods.tiny import agrees, pictures, vit

LABELS = ["tench", "zebra", "African elephant", "tabby cat", "tiger cat"]
EVERY = list(METHODS)


def same(a: Explanation, b: Explanation) -> bool:
    return agrees(a.tokens, b.tokens) and agrees(a.unattributed, b.unattributed)


def test_several_methods_give_what_each_gives_alone() -> None:
    model, x = vit(), pictures()
    together = explain(model, x, 2, methods=EVERY)
    assert [e.settings.method.key for e in together] == EVERY
    for e in together:
        assert same(e, explain(model, x, 2, method=e.settings.method.key)), e.name


def test_methods_of_one_preset_share_one_forward_and_one_backward() -> None:
    model, x = vit(), pictures()
    explainer = Explainer(model)
    explainer.geometry(x)
    forwards, backwards = 0, 0

    def forward(module: nn.Module, inputs: Any, z: Tensor) -> None:
        nonlocal forwards
        forwards += 1
        z.register_hook(backward)

    def backward(g: Tensor) -> None:
        nonlocal backwards
        backwards += 1

    model.register_forward_hook(forward)
    libra = [key for key, method in METHODS.items() if method.preset is None]
    assert len(libra) > 10
    explainer.explain(x, 1, methods=libra)
    assert (forwards, backwards) == (1, 1)
    explainer.explain(x, targets=[0, 1, 2], methods=libra)
    assert (forwards, backwards) == (2, 4)
    explainer.explain(x, 1, methods=["fullgrad+", "alilrp", "cplrp"])
    assert (forwards, backwards) == (5, 7)


@pytest.mark.parametrize(
    ("key", "preset"),
    [("decompx", DECOMPX), ("alilrp", ALI_LRP), ("cplrp", CP_LRP), ("attnlrp", ATTN_LRP)],
)
def test_a_method_with_a_backward_of_its_own_keeps_it(key: str, preset: Any) -> None:
    model, x = vit(), pictures()
    wanted = explain(model, x, 1, method="input_x_grad", preset=preset)
    for asked in (LIBRA, STANDARD):
        assert same(explain(model, x, 1, method=key, preset=asked), wanted)


def test_several_targets_give_what_each_gives_alone() -> None:
    model, x = vit(), pictures()
    targets: list[Any] = [0, [4, 1], "zebra", "second", Contrast(1, 2), lambda z: z[:, :2].sum(1)]
    together = explain(model, x, targets=targets, method="fullgrad", labels=LABELS)
    assert len(together) == len(targets)
    for target, e in zip(targets, together, strict=True):
        assert same(e, explain(model, x, target, method="fullgrad", labels=LABELS))


def test_what_is_explained() -> None:
    model, x = vit(), pictures()
    z = model(x).detach()
    order = z.argsort(1, descending=True)
    rows = torch.arange(2)

    def of(target: Any, **settings: Any) -> Explanation:
        e: Explanation = explain(model, x, target, method="fullgrad", labels=LABELS, **settings)
        return e

    assert torch.equal(of(None).output, z.amax(1))
    assert torch.equal(of("predicted").output, z.amax(1))
    second = of("second")
    assert torch.equal(second.output, z[rows, order[:, 1]])
    assert second.target is not None
    assert torch.equal(second.target, order[:, 1])
    assert second.labels == tuple(LABELS[i] for i in order[:, 1])
    assert torch.equal(of("elephant").output, z[:, 2])
    assert torch.equal(of(["zebra", 3]).output, z[rows, torch.tensor([1, 3])])
    assert torch.equal(of(torch.tensor([4, 0])).output, z[rows, torch.tensor([4, 0])])
    contrast = of(Contrast("zebra", "elephant"))
    assert torch.equal(contrast.output, z[:, 1] - z[:, 2])
    assert contrast.labels == ("zebra − African elephant",) * 2
    assert agrees(contrast.tokens, of("zebra").tokens - of("elephant").tokens)
    named = of(lambda y: y.square().sum(1))
    assert agrees(named.output, z.square().sum(1))
    assert named.target is None


def test_kinds_of_output() -> None:
    """A probability's map is p_t (A_t − Σ_j p_j A_j) of the logits' maps A: the chain rule."""
    model, x = vit(), pictures()
    z = model(x).detach()
    p = z.softmax(1)
    logits = explain(model, x, targets=list(range(5)), method="fullgrad")
    maps = torch.stack([e.tokens for e in logits])

    def tokens(**settings: Any) -> Explanation:
        e: Explanation = explain(model, x, 1, method="fullgrad", **settings)
        return e

    probability = tokens(output="probability")
    mean = torch.einsum("bj,jbn->bn", p, maps)
    assert agrees(probability.output, p[:, 1])
    assert agrees(probability.tokens, p[:, 1:2] * (maps[1] - mean))
    assert float(probability.completeness_error.abs().max()) < 1e-12
    sigmoid = tokens(output="sigmoid")
    s = z[:, 1:2].sigmoid()
    assert agrees(sigmoid.tokens, s * (1 - s) * maps[1])
    others = z.clone()
    others[:, 1] = -torch.inf
    best = others.argmax(1)
    contrastive = tokens(output="contrastive")
    assert agrees(contrastive.tokens, maps[1] - maps[best, torch.arange(2)])
    two = others.topk(2).indices
    mean_of_two = maps[two, torch.arange(2)[:, None]].mean(1)
    assert agrees(tokens(output=Contrastive(n=2, s=0.5)).tokens, maps[1] - 0.5 * mean_of_two)


@pytest.mark.parametrize("level", ["tokens", "pixels", 1])
@pytest.mark.parametrize(
    "path", [None, Integrated(steps=3), Smooth(samples=3)], ids=["point", "integrated", "smooth"]
)
def test_a_batch_equals_its_pictures_and_any_split(level: Any, path: Any) -> None:
    """Methods that look at attention read tokens, so pixels leave them out."""
    model, x = vit(), pictures(3)
    attention = {"attcat", "genatt", "tokentm", "rawatt", "rollout"}
    methods = [key for key in EVERY if level != "pixels" or key not in attention]
    settings: dict[str, Any] = {"methods": methods, "level": level, "path": path}
    explainer = Explainer(model)
    whole = explainer.explain(x, [0, 1, 2], **settings)
    for size in (1, 5):
        split = explainer.explain(x, [0, 1, 2], batch_size=size, **settings)
        assert all(same(a, b) for a, b in zip(whole, split, strict=True))
    for i in range(3):
        alone = explainer.explain(x[i : i + 1], i, **settings)
        assert all(same(a.one(i), b) for a, b in zip(whole, alone, strict=True))


def test_levels() -> None:
    model, x = vit(), pictures()
    tokens, first = (
        explain(model, x, 1, method="fullgrad", level=level) for level in ("tokens", 0)
    )
    assert same(tokens, first)
    last, hirescam = (
        explain(model, x, 1, method=method, level=level)
        for method, level in (("input_x_grad", 2), ("hirescam", "tokens"))
    )
    assert same(last, hirescam)
    assert same(explain(model, x, 1, method="input_x_grad", level=-1), last)
    pixels = explain(model, x, 1, method="input_x_grad", level="pixels")
    leaf = x.clone().requires_grad_()
    model(leaf)[:, 1].sum().backward()
    standard = explain(model, x, 1, method="input_x_grad", level="pixels", preset=STANDARD)
    assert leaf.grad is not None
    assert agrees(standard.map, (leaf * leaf.grad).sum(1))
    assert pixels.map.shape == (2, 32, 32)


@contextmanager
def saved() -> Iterator[list[int]]:
    """How many numbers autograd remembers, each storage once."""
    seen: dict[int, int] = {}
    total = [0]

    def pack(x: Tensor) -> Tensor:
        storage = x.untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
        total[0] = sum(seen.values())
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        yield total


def test_checkpoints_give_the_same_numbers_in_less_memory() -> None:
    model, x = vit(depth=8), pictures()
    methods = ["fullgrad+", "fullgrad", "gradcam+", "genatt", "tokentm", "rollout"]
    explainer = Explainer(model)
    for preset in (LIBRA, STANDARD):
        plain = explainer.explain(x, 1, methods=methods, preset=preset)
        again = explainer.explain(x, 1, methods=methods, preset=preset, checkpoint=True)
        assert all(same(a, b) for a, b in zip(plain, again, strict=True))
    sizes = []
    for checkpoint in (False, True):
        with saved() as total:
            explainer.explain(x, 1, method="input_x_grad", preset=STANDARD, checkpoint=checkpoint)
        sizes.append(total[0])
    assert sizes[1] < sizes[0] / 2


def state(model: nn.Module) -> list[Any]:
    """All that a pass could leave behind."""
    found: list[Any] = [model.training]
    for name, module in model.named_modules():
        found.append((name, sorted(module.__dict__), "forward" in module.__dict__))
        for key, value in module.__dict__.items():
            if "hooks" in key and hasattr(value, "__len__"):
                found.append((name, key, len(value)))
    for name, p in model.named_parameters():
        found.append((name, id(p), p.requires_grad, p.grad, p._version, sorted(p.__dict__)))
    return found


@pytest.mark.parametrize("checkpoint", [False, True])
def test_the_model_is_as_it_was(checkpoint: bool) -> None:
    model, x = vit(), pictures()
    before, z, copy = state(model), model(x).detach(), x.clone()
    explain(model, x, 1, methods=EVERY, checkpoint=checkpoint, path=Integrated(steps=2))
    assert state(model) == before
    assert torch.equal(model(x).detach(), z)
    assert torch.equal(x, copy)


def test_a_forward_of_the_modules_own_is_given_back() -> None:
    """Libraries that place a model on devices put a forward on the module itself."""
    model, x = vit(), pictures()
    block = model.blocks[1]
    native = block.forward
    calls = 0

    def own(*args: Any, **kwargs: Any) -> Tensor:
        nonlocal calls
        calls += 1
        y: Tensor = native(*args, **kwargs)
        return y

    block.forward = own
    explainer = Explainer(model)
    explainer.geometry(x)
    calls = 0
    explainer.explain(x, 1, checkpoint=True)
    assert (block.forward, calls) == (own, 2)


@pytest.mark.parametrize("checkpoint", [False, True])
def test_threads_may_share_an_explainer(checkpoint: bool) -> None:
    """Each first pass finds out where the biases belong: none may hear of another's."""
    model, x = vit(), pictures()
    methods = ["fullgrad+", "fullgrad", "genatt"]
    wanted = [explain(model, x * k, 1, methods=methods) for k in range(1, 5)]

    def work(
        explainer: Explainer, together: Barrier, k: int, found: dict[int, Sequence[Explanation]]
    ) -> None:
        together.wait()
        found[k] = explainer.explain(x * k, 1, methods=methods, checkpoint=checkpoint)

    for _ in range(4):
        explainer, together = Explainer(model), Barrier(4)
        explainer.geometry(x)
        found: dict[int, Sequence[Explanation]] = {}
        with ThreadPoolExecutor(4) as pool:
            for job in [pool.submit(work, explainer, together, k, found) for k in range(1, 5)]:
                job.result()
        for k in range(1, 5):
            assert all(same(a, b) for a, b in zip(found[k], wanted[k - 1], strict=True))
    assert not any("forward" in module.__dict__ for module in model.modules())


def test_inference_mode_of_the_caller() -> None:
    model, x = vit(), pictures()
    wanted = explain(model, x, 1)
    with torch.inference_mode():
        assert same(explain(model, x.clone(), 1), wanted)


def test_autocast_rounds_the_model_and_not_the_account() -> None:
    model, x = vit().float(), pictures().float()
    with torch.autocast("cpu", torch.bfloat16):
        found = explain(model, x, 1, methods=EVERY)
    for e, wanted in zip(found, explain(model, x, 1, methods=EVERY), strict=True):
        assert e.map.dtype is e.unattributed.dtype is torch.float32
        assert agrees(e.tokens, wanted.tokens, 0.02), e.name


@pytest.mark.parametrize("when", ["forward", "target"])
def test_the_model_is_as_it_was_after_an_exception(when: str) -> None:
    model, x = vit(), pictures()
    explainer = Explainer(model)
    explainer.geometry(x)
    stumble = Stumble(model.blocks[2].mlp.fc1) if when == "forward" else None
    if stumble is not None:
        model.blocks[2].mlp.fc1 = stumble
    before, z = state(model), None if stumble else model(x).detach()

    def target(y: Tensor) -> Tensor:
        if not stumble:
            raise RuntimeError("halfway")
        return y[:, 0]

    if stumble:
        stumble.on = True
    for checkpoint in (False, True):
        with pytest.raises((RuntimeError, ValueError), match="halfway"):
            explainer.explain(x, target, methods=["fullgrad", "genatt"], checkpoint=checkpoint)
    if stumble:
        stumble.on = False
    assert state(model) == before
    assert z is None or torch.equal(model(x).detach(), z)
    with torch.no_grad():
        assert not torch.overrides._get_current_function_mode_stack()


class Stumble(nn.Module):
    """Raises when it is told to."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner, self.on = inner, False

    def forward(self, x: Tensor) -> Tensor:
        if self.on:
            raise RuntimeError("halfway")
        y: Tensor = self.inner(x)
        return y


def test_random_is_the_same_for_a_seed_and_a_picture() -> None:
    model, x = vit(), pictures(3)
    first, again, other = (
        explain(model, x, 0, method="random", seed=seed).tokens for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert not torch.equal(first[0], first[1])
    assert bool(((first >= 0) & (first < 1)).all())
    assert torch.equal(explain(model, x[1:2], 0, method="random").tokens, first[1:2])


def test_names() -> None:
    model, x = vit(), pictures(1)

    def name(method: str, **settings: Any) -> str:
        e: Explanation = explain(model, x, 0, method=method, **settings)
        return e.name

    assert name("fullgrad+") == "Libra FullGrad+"
    assert name("genatt", preset=STANDARD) == "GenAtt"
    assert name("genatt", preset=STANDARD, path=Integrated(2)) == "Int. GenAtt"
    assert name("input_x_grad", path=Integrated(2)) == "Int. Libra Input×Grad"
    assert name("fullgrad", path=Smooth(2)) == "Smooth Libra FullGrad"
    assert name("rollout") == "Attention Rollout"
    assert name("alilrp") == "AliLRP"


@pytest.mark.parametrize("spelling", ["FullGrad+", "fullgrad +", "Full-Grad+", "fullgrad+"])
def test_methods_are_found_in_any_spelling(spelling: str) -> None:
    e = explain(vit(), pictures(1), 0, method=spelling)
    assert e.settings.method is METHODS["fullgrad+"]


def test_geometry_can_be_named_instead_of_found() -> None:
    model, x = vit(), pictures()
    e = explain(model, x, 0, method="fullgrad", blocks=["blocks.1", "blocks.2"], start="blocks.1")
    assert same(e, explain(model, x, 0, method="fullgrad", level=1))
