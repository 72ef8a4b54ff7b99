"""The vectors of DecompX add up, and are what the gradient says, for every logit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from libragrad import MethodError, explain
from libragrad.methods.decompx_vectors import decompose
from tests.explaining.architectures import OTHERS, THE_PAPERS
from tests.geometry.models import Joined
from tests.methods.tiny import CLASSES, agrees, built, pictures, vit
from tests.reference.tiny_turned import TurnedViT
from tests.reference.tiny_vit import TinyViT
from tests.reference.tiny_without_attention import TinyCNN, TinyMixer

STANDARD_BLOCKS: dict[str, tuple[Callable[[], Any], tuple[int, int]]] = {
    "CLS": (lambda: built(TinyViT()), (24, 32)),
    "attention written out": (lambda: built(TinyViT(fused=False)), (24, 32)),
    "registers": (lambda: built(TinyViT(prefix=4)), (24, 32)),
    "mean": (lambda: built(TinyViT(prefix=0, reads="mean")), (24, 32)),
    "RoPE": (lambda: built(TinyViT(position="rope")), (24, 32)),
    "relative position bias": (lambda: built(TinyViT(position="relative")), (24, 32)),
    "attention pool": (lambda: built(TinyViT(prefix=0, reads="pool")), (24, 32)),
    "nn.MultiheadAttention": (
        lambda: built(TurnedViT(batch_first=True, written=False)),
        (24, 32),
    ),
    "the same, turned and written out": (
        lambda: built(TurnedViT(batch_first=False, written=True)),
        (24, 32),
    ),
    "CLS at the end": (lambda: built(Joined("end")), (24, 32)),
    "Mixer": (lambda: built(TinyMixer()), (24, 32)),
    "CNN": (lambda: built(TinyCNN()), (24, 32)),
    "timm's ViT": (vit, (32, 32)),
    **{
        name: (architecture.build, architecture.size)
        for name, architecture in {**THE_PAPERS, **OTHERS}.items()
        if name in ("DeiT3", "BEiT2", "CLIP", "torchvision's ViT", "transformers' ViT")
    },
}


@pytest.mark.parametrize("name", STANDARD_BLOCKS)
def test_the_vectors_are_the_gradient_equivalent_for_every_class(name: str) -> None:
    build, size = STANDARD_BLOCKS[name]
    model, x = build(), pictures(2, *size)
    d = decompose(model, x)
    assert d.tokens.shape == (2, d.layout.count, CLASSES)
    assert agrees(d.tokens.sum(1) + d.rest, d.output)
    by_gradient = explain(model, x, targets=list(range(CLASSES)), method="decompx")
    for k, e in enumerate(by_gradient):
        assert agrees(d.output[:, k], e.output)
        assert agrees(d.tokens[..., k], e.tokens)
        assert agrees(d.rest[:, k], e.completeness_error)
    assert float(d.rest.abs().max()) > 0.1  # the biases' part is left over, and is shown


def test_without_biases_nothing_is_left_over() -> None:
    model = vit()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
    d = decompose(model, pictures())
    assert float(d.rest.abs().max()) < 1e-12


def test_a_picture_in_a_batch_has_its_own_vectors() -> None:
    model, x = vit(), pictures(3)
    whole = decompose(model, x)
    for i in range(3):
        assert agrees(whole.tokens[i : i + 1], decompose(model, x[i : i + 1]).tokens)


def test_a_gated_mlp_is_refused_by_name() -> None:
    model = built(TinyViT(gated=True))
    with pytest.raises(
        MethodError,
        match=r"^DecompX does not apply here: 'mul' of two tensors that both depend on the tokens "
        r'is not linear in the tokens\. Take its gradient equivalent, method="decompx"\.$',
    ):
        decompose(model, pictures(1, 24, 32))


class Odd(TinyViT):
    """Ends in an operation without a linear part."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).sin()


class Written(TinyViT):
    """Writes into its output."""

    def forward(self, x: Tensor) -> Tensor:
        z = super().forward(x)
        z[:, 0] = z[:, 1]
        return z


class WithoutSoftmax(TinyViT):
    """Ends in linear attention: a product of three values."""

    def forward(self, x: Tensor) -> Tensor:
        z = super().forward(x)
        w: Tensor = nn.functional.linear(z @ (z.mT @ z), self.head.weight[:, :CLASSES])
        return w


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Odd, "it has no rule for the operation 'sin'"),
        (Written, "it has no rule for the operation 'setitem'"),
        (WithoutSoftmax, "'linear' of scores outside a softmax is not linear in the tokens"),
    ],
)
def test_what_is_not_linear_is_refused_by_name(model: type[TinyViT], text: str) -> None:
    with pytest.raises(MethodError, match=f"^DecompX does not apply here: {text}"):
        decompose(built(model()), pictures(1, 24, 32))


def test_nothing_is_left_on_the_model() -> None:
    model: nn.Module = built(Odd())
    for _ in range(2):
        with pytest.raises(MethodError):
            decompose(model, pictures(1, 24, 32))
    assert not any(module._forward_pre_hooks for module in model.modules())
