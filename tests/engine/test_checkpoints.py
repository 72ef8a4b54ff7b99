"""Checkpoints run a part of the model again in the backward, under the same preset."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from libragrad import audit, balanced
from tests.checks import Operation
from tests.engine.networks import ViT, gradient, images, vit


class Checkpointed(nn.Module):
    """A model whose blocks are checkpointed."""

    def __init__(self, model: nn.Module, *, reentrant: bool) -> None:
        super().__init__()
        self.model, self.reentrant = model, reentrant

    def forward(self, image: Tensor) -> Tensor:
        model = self.model
        assert isinstance(model, ViT)
        h = model.patches(image).flatten(2).transpose(1, 2)
        h = torch.cat([model.token.expand(len(h), -1, -1), h], dim=1) + model.positions
        for block in model.blocks:
            h = checkpoint(block, h, use_reentrant=self.reentrant)
        y: Tensor = model.head(model.norm(h)[:, 0])
        return y


@pytest.mark.parametrize("reentrant", [True, False], ids=["reentrant", "not reentrant"])
def test_a_checkpointed_block_has_the_same_gradient(reentrant):
    model = vit()
    with balanced():
        wanted = gradient(model, images())
        x = images().requires_grad_()
        Checkpointed(model, reentrant=reentrant)(x)[:, 1].sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, wanted)


@pytest.mark.parametrize("reentrant", [True, False], ids=["reentrant", "not reentrant"])
def test_its_account_is_the_same(reentrant):
    model = vit()
    plain = audit(model, images(), 1)
    account = audit(Checkpointed(model, reentrant=reentrant), images(), 1)
    assert account.relative_error < 1e-12
    assert account.inputs == pytest.approx(plain.inputs, rel=1e-12)
    assert account.unknown == []


@pytest.mark.parametrize("reentrant", [True, False], ids=["reentrant", "not reentrant"])
@pytest.mark.parametrize("f", [torch.tanh, torch.exp, torch.sqrt, lambda x: x.clamp(-0.5, 0.5)])
def test_a_rule_that_differentiates_does_so_apart(f, reentrant):
    """A secant asks for f′(0), a clamp for its Jacobian: not of the checkpoint's graph."""
    x = images().abs().requires_grad_()
    account = audit(Operation(lambda x: checkpoint(f, x, use_reentrant=reentrant)), x, Tensor.sum)
    assert account.relative_error < 1e-12
    assert account.unknown == []
