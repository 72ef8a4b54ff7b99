"""Attention's backward is one more fused attention: no N×N matrix, no gradient to Q and K."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from libragrad import LIBRA, audit, balanced
from libragrad.rules.call import tensors_in
from tests.cases import attentions
from tests.checks import Operation, draw

EXPLICIT = {
    "of a batch without heads": "three dimensions",
    "of one sequence": "two dimensions",
    "masked without heads": "three dimensions",
    "causal, without heads": "three dimensions",
    "biased by a mask of three dimensions": "three dimensions",
    "with wider values": "values of another size than keys",
    "biased by the input": "a mask that wants a gradient",
    "of constant values": "nothing to send back",
}
"""The cases that PyTorch itself does not give to its fused kernel, and why."""

LIBRA_CASES = [case for case in attentions.CASES if case.preset is LIBRA]


@pytest.mark.parametrize("case", LIBRA_CASES, ids=str)
def test_the_fused_kernel_takes_whatever_pytorch_gives_it(case):
    account = audit(Operation(case.operation), tuple(case.inputs()), lambda y: y.sum())
    assert ("attention (fused)" in account.operations) == (case.note not in EXPLICIT)


class Largest(TorchDispatchMode):
    """Remembers the largest tensor that any kernel returns."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        sizes = [x.numel() for x in tensors_in(result) if "view" not in str(func)]
        self.elements = max([self.elements, *sizes])
        return result


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_no_tensor_has_the_size_of_the_attention_matrix(causal):
    tokens, size = 1024, 8
    x = draw(1, 1, tokens, size).requires_grad_()
    with Largest() as largest, balanced():
        F.scaled_dot_product_attention(x, x, x, is_causal=causal).sum().backward()
    assert largest.elements <= 2 * tokens * size
    assert x.grad is not None


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_queries_and_keys_receive_nothing(causal):
    q, k, v = (draw(1, 2, 5, 4, seed=seed).requires_grad_() for seed in range(3))
    with balanced():
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal).sum()
    y.backward()
    assert [q.grad, k.grad] == [None, None]
    # Each row of A sums to one, so with g = 1 the gradient to V sums to the number of queries.
    assert v.grad is not None
    torch.testing.assert_close(v.grad.sum(2), torch.full((1, 2, 4), 5.0).double())
