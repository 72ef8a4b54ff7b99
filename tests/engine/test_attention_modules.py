"""nn.MultiheadAttention and PyTorch's own encoder, whichever path they take outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from libragrad import audit, balanced
from tests.checks import Operation, draw
from tests.engine.networks import randomised

PADDED = torch.tensor([[False] * 5, [False, False, False, True, True]])
CAUSAL = torch.ones(5, 5, dtype=torch.bool).triu(1)


def tokens() -> Tensor:
    return draw(2, 5, 8)


def encoder_layer(**options: Any) -> nn.TransformerEncoderLayer:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0, **options)
    randomised(layer)
    return layer


def encoder() -> nn.TransformerEncoder:
    model = nn.TransformerEncoder(encoder_layer(activation="gelu"), 2)
    randomised(model)
    return model


@contextmanager
def no_fast_path() -> Iterator[None]:
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


MODELS = {
    "layer, after": lambda: encoder_layer(activation="gelu"),
    "layer, before": lambda: encoder_layer(norm_first=True),
    "encoder": encoder,
}
MASKS = {
    "full": {},
    "padded": {"src_key_padding_mask": PADDED},
    "causal": {"is_causal": True},
}


def given(model: nn.Module, masks: dict[str, Any]) -> dict[str, Any]:
    """A layer and an encoder call the mask of pairs by different names."""
    name = "mask" if isinstance(model, nn.TransformerEncoder) else "src_mask"
    return {**masks, name: CAUSAL} if "is_causal" in masks else masks


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS.keys())
def test_values_are_the_native_ones(build, masks):
    model, x = build(), tokens()
    options = given(model, masks)
    recorded = model(x.clone().requires_grad_(), **options)
    with no_fast_path(), torch.no_grad():
        quiet = model(x, **options)
    with balanced():
        assert torch.equal(model(x.clone().requires_grad_(), **options), recorded)
        with torch.no_grad():  # within the context PyTorch leaves its fast path by itself
            assert torch.equal(model(x, **options), quiet)


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS.keys())
def test_the_fast_path_has_the_same_values_to_rounding(build):
    model, x = build(), tokens()
    with torch.no_grad():
        fast = model(x)
    with balanced():
        torch.testing.assert_close(model(x.clone().requires_grad_()).detach(), fast)


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS.keys())
def test_the_account_balances_and_sees_every_operation(build, masks):
    model = build()
    inputs = {"src": tokens(), **given(model, masks)}
    account = audit(model, inputs, lambda y: y[:, 1].sum())
    assert account.relative_error < 1e-12
    assert account.unknown == []
    assert account.operations["attention (fused)"] >= 1
    assert account.operations["layer norm"] >= 2


ATTENTION_OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "weights": {"need_weights": True},
    "weights of heads": {"need_weights": True, "average_attn_weights": False},
    "padded": {"key_padding_mask": PADDED},
    "masked": {"attn_mask": CAUSAL},
    "causal": {"attn_mask": CAUSAL, "is_causal": True, "need_weights": False},
}


@pytest.mark.parametrize("options", ATTENTION_OPTIONS.values(), ids=ATTENTION_OPTIONS.keys())
@pytest.mark.parametrize(
    "extras",
    [{}, {"bias": False}, {"kdim": 8, "vdim": 8}, {"add_bias_kv": True}, {"add_zero_attn": True}],
    ids=str,
)
def test_multihead_attention(options, extras):
    module = nn.MultiheadAttention(8, 2, batch_first=True, **extras)
    randomised(module)
    x = tokens().requires_grad_()
    native = module(x, x, x, **options)[0]
    with balanced():
        y = module(query=x, key=x, value=x, **options)[0]
    assert torch.equal(y, native)
    account = audit(Operation(lambda x: module(x, x, x, **options)[0]), x, lambda y: y[:, 1].sum())
    assert account.relative_error < 1e-12
    assert account.unknown == []


def test_attention_sends_its_gradient_to_the_values_alone():
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    randomised(module)
    query, key, value = (draw(2, 5, 8, seed=seed).requires_grad_() for seed in range(3))
    with balanced():
        module(query, key, value)[0].sum().backward()
    received = [x.grad is not None and bool(x.grad.any()) for x in (query, key, value)]
    assert received == [False, False, True]


def test_with_and_without_weights_the_gradient_is_the_same():
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    randomised(module)
    got = []
    for need_weights in (False, True):
        x = tokens().requires_grad_()
        with balanced():
            y = module(x, x, x, need_weights=need_weights)[0]
        got.append(torch.autograd.grad(y[:, 1].sum(), x)[0])
    torch.testing.assert_close(*got)


@pytest.mark.parametrize("need_weights", [True, False])
def test_the_weights_are_cut_into_pieces_with_the_same_values(need_weights):
    """Of three different inputs PyTorch cuts the weights apart; it multiplies a piece that wants a
    gradient in another order than one that does not."""
    module = nn.MultiheadAttention(24, 2, batch_first=True)
    randomised(module)
    query, key, value = (draw(3, 5, 24, seed=seed).requires_grad_() for seed in range(3))
    native = module(query, key, value, need_weights=need_weights)[0]
    with balanced():
        y = module(query, key, value, need_weights=need_weights)[0]
    assert torch.equal(y, native)
