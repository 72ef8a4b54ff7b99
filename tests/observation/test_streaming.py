"""Methods keep O(tokens): no N × N × layers numbers, no N × N products, no other attention."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from libragrad import LIBRA, METHODS, STANDARD, Explainer, explain
from libragrad.observation.attention import Fused
from tests.methods.tiny import CLASSES, agrees, built, pictures

ATTENTION = ["genatt", "tokentm", "rawatt", "rollout", "attcat"]
DEPTH, HEADS, TOKENS = 6, 2, 65


def deep() -> Any:
    """64 patches and CLS; six layers."""
    return built(
        VisionTransformer(
            img_size=32,
            patch_size=4,
            embed_dim=8,
            depth=DEPTH,
            num_heads=HEADS,
            num_classes=CLASSES,
        )
    )


class Watched(TorchDispatchMode):
    """Sees every kernel: products of N × N by N × N, fused attention, and who holds N × N."""

    def __init__(self) -> None:
        super().__init__()
        self.products, self.fused = 0, 0
        self.made: list[weakref.ref[Tensor]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func)
        if "mm" in name or "matmul" in name:
            self.products += sum(is_square(x) for x in args) > 1
        self.fused += "flash_attention_for_cpu.default" in name
        result = func(*args, **(kwargs or {}))
        if is_square(result):
            self.made.append(weakref.ref(result))
        return result

    def alive(self) -> int:
        """How many N × N tensors are held by anyone, views counted with their base."""
        tensors = [x for x in (ref() for ref in self.made) if x is not None]
        return len({x.untyped_storage().data_ptr() for x in tensors})


def is_square(x: object) -> bool:
    return isinstance(x, Tensor) and x.shape[-2:] == (TOKENS, TOKENS)


@pytest.mark.parametrize("preset", [LIBRA, STANDARD], ids=lambda p: p.name)
def test_no_layer_leaves_its_attention_behind(preset: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    network, x = deep(), pictures(1)
    explainer = Explainer(network)
    explainer.geometry(x)
    alive: list[int] = []
    some = Fused.some

    def counted(self: Fused, g: Tensor, gradient: bool) -> Any:
        for rows in some(self, g, gradient):
            alive.append(watched.alive())
            yield rows

    monkeypatch.setattr(Fused, "some", counted)
    with Watched() as watched:
        explainer.explain(x, 1, methods=ATTENTION, preset=preset)
    asked = {"genatt": DEPTH, "tokentm": DEPTH, "rollout": DEPTH, "attcat": DEPTH, "rawatt": 1}
    assert len(alive) == sum(asked.values())
    # A, ∂A and the scores that A was made of: never those of another layer.
    assert 1 <= max(alive) <= 3
    assert max(alive[: len(ATTENTION)]) >= max(alive[-4:])
    assert watched.alive() == 0


@pytest.mark.parametrize("preset", [LIBRA, STANDARD], ids=lambda p: p.name)
def test_a_row_of_a_rollout_needs_no_product_of_matrices(preset: Any) -> None:
    network, x = deep(), pictures(1)
    explainer = Explainer(network)
    explainer.geometry(x)
    with Watched() as counted:
        explainer.explain(x, 1, methods=ATTENTION, preset=preset)
    assert counted.products == 0
    # Once a layer forward; under Libra once more for each layer's backward but the first's.
    assert counted.fused >= DEPTH
    with Watched() as control:
        a = torch.ones(HEADS, TOKENS, TOKENS)
        a @ a
    assert control.products == 1


def test_the_model_keeps_its_fused_attention() -> None:
    network, x = deep(), pictures(1)
    fused = [block.attn.fused_attn for block in network.blocks]
    assert all(fused)
    explain(network, x, 1, methods=list(METHODS))
    assert [block.attn.fused_attn for block in network.blocks] == fused
    with torch.no_grad(), Watched() as counted:
        network(x)
    assert counted.fused == DEPTH


def test_a_few_queries_at_a_time_are_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    network, x = deep(), pictures(2)
    whole = explain(network, x, 1, methods=ATTENTION)
    monkeypatch.setattr("libragrad.observation.attention._ENTRIES", 7 * 2 * HEADS * TOKENS)
    parts = explain(network, x, 1, methods=ATTENTION)
    for a, b in zip(whole, parts, strict=True):
        assert agrees(a.tokens, b.tokens, 1e-13)


def test_written_attention_gives_what_fused_attention_gives() -> None:
    network, x = deep(), pictures(2)
    methods = [*ATTENTION, "fullgrad+"]
    for preset in (LIBRA, STANDARD):
        fused = explain(network, x, 1, methods=methods, preset=preset)
        for block in network.blocks:
            block.attn.fused_attn = False
        written = explain(network, x, 1, methods=methods, preset=preset)
        for block in network.blocks:
            block.attn.fused_attn = True
        for a, b in zip(fused, written, strict=True):
            assert agrees(a.tokens, b.tokens), a.name
