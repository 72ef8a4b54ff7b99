"""Whatever known operations a network is composed of, it is complete and its values are native."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from libragrad import LIBRA, PRESETS, Preset, audit, balanced
from tests.checks import draw

WIDTH, TOKENS = 4, 3
W = [draw(WIDTH, WIDTH, seed=seed) / 2 for seed in range(4)]
B = [draw(WIDTH, seed=10 + seed) for seed in range(4)]


def attention(h: Tensor, *, causal: bool = False) -> Tensor:
    q, k, v = (h @ w for w in W[:3])
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


IN_PLACE: dict[str, Callable[[Tensor], Tensor]] = {
    "add_": lambda h: h.clone().add_(B[0]),
    "mul_": lambda h: h.clone().mul_(0.5),
    "silu_": lambda h: F.silu(h.clone(), inplace=True),
    "tanh_": lambda h: h.clone().tanh_(),
    "relu_": lambda h: F.relu(h.clone(), inplace=True),
    "first": lambda h: h.index_fill(-1, torch.tensor([0]), 1.0),
}

ONE: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda h: F.linear(h, W[0], B[0]),
    "matmul": lambda h: h @ W[1],
    "layer norm": lambda h: F.layer_norm(h, (WIDTH,), B[1], B[2]),
    "rms norm": lambda h: F.rms_norm(h, (WIDTH,), B[1], 1e-3),
    "normalise": lambda h: F.normalize(h + 1, dim=-1),
    "gelu": F.gelu,
    "quick gelu": lambda h: h * torch.sigmoid(1.702 * h),
    "hard swish": F.hardswish,
    "squared relu": lambda h: F.relu(h) ** 2,
    "elu": F.elu,
    "softplus": F.softplus,
    "tanh": torch.tanh,
    "sin": torch.sin,
    "square": torch.square,
    "clamp": lambda h: h.clamp(-1, 1),
    "round": lambda h: h.round() + h,
    "max": lambda h: h - h.amax(-1, keepdim=True),
    "sort": lambda h: h.sort(-1).values,
    "transpose": lambda h: F.pad(h.mT, (0, WIDTH - TOKENS))[..., :TOKENS, :],
    "roll": lambda h: h.roll(1, -2),
    "mean": lambda h: h - h.mean(-2, keepdim=True),
    "softmax": lambda h: h.softmax(-1) @ W[2],
    "log softmax": lambda h: h.log_softmax(-1),
    "swiglu": lambda h: F.silu(h @ W[0]) * (h @ W[1]),
    "glu": lambda h: F.glu(torch.cat([h, h @ W[2]], -1)),
    "attention": attention,
    "causal heads": lambda h: attention(h[:, None], causal=True)[:, 0],
    "squeeze": lambda h: h * torch.sigmoid(h.mean(-2, keepdim=True) @ W[3]),
    "divide": lambda h: h / (h.abs().sum(-1, keepdim=True) + 1),
    "number": lambda h: 2 * h - 1,
    **IN_PLACE,
}

TWO: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "a + b": torch.add,
    "a ⊙ b": torch.mul,
    "a bᵀ b": lambda a, b: a @ b.mT @ b / 8,
    "a / ‖b‖": lambda a, b: a / (b.norm(dim=-1, keepdim=True) + 1),
    "σ(a) ⊙ b": lambda a, b: a.sigmoid() * b,
    "max(a, b)": torch.maximum,
    "where": lambda a, b: torch.where(a > 0, a, b),
    "lerp": lambda a, b: torch.lerp(a, b, 0.25),
    "cosine": lambda a, b: F.cosine_similarity(a, b, -1)[..., None] * B[3],
}

Step = tuple[str, int, int]
steps = st.lists(
    st.tuples(st.sampled_from([*ONE, *TWO]), st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
    max_size=8,
)


class Network(nn.Module):
    """Each step reads earlier results and writes one more; the head sees them all."""

    def __init__(self, plan: list[Step]) -> None:
        super().__init__()
        self.plan = plan

    def forward(self, x: Tensor) -> Tensor:
        done = [x]
        for name, first, second in self.plan:
            a, b = done[-1 - first % len(done)], done[-1 - second % len(done)]
            h = ONE[name](a) if name in ONE else TWO[name](a, b)
            done.append(h / 4 if name in TWO else h)
        y: Tensor = torch.cat([h.mean(-2) for h in done], -1)
        return y


def inputs() -> Tensor:
    return draw(2, TOKENS, WIDTH, seed=7)


def weighted(output: Tensor) -> Tensor:
    return output @ draw(output.shape[-1], seed=8)


@settings(deadline=None, max_examples=150)
@given(plan=steps)
def test_complete_under_libra(plan):
    account = audit(Network(plan), inputs(), weighted)
    size = abs(account.inputs) + sum(map(abs, account.biases.values()))
    assert account.unknown == []
    assert abs(account.error) < 1e-11 * max(size, 1)


@settings(deadline=None, max_examples=60)
@given(plan=steps, preset=st.sampled_from(list(PRESETS.values())))
def test_values_are_native_under_every_preset(plan, preset: Preset):
    model = Network(plan)
    native = model(inputs())
    with balanced(preset):
        assert torch.equal(model(inputs().requires_grad_()), native)
    account = audit(model, inputs(), weighted, preset)
    assert account.output == float(weighted(native).sum())


@settings(deadline=None, max_examples=40)
@given(plan=steps, preset=st.sampled_from(list(PRESETS.values())))
def test_a_batch_is_its_examples(plan, preset: Preset):
    model = Network(plan)

    def gradient(x: Tensor) -> Tensor:
        x = x.clone().requires_grad_()
        with balanced(preset):
            y = weighted(model(x)).sum()
        (g,) = torch.autograd.grad(y, x)
        return g

    alone = torch.cat([gradient(x) for x in inputs().split(1)])
    torch.testing.assert_close(gradient(inputs()), alone, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=40)
@given(plan=steps)
def test_leaks_sum_to_the_error_where_it_does_not_balance(plan):
    account = audit(Network(plan), inputs(), weighted, LIBRA.without("attention", "activation"))
    size = abs(account.inputs) + sum(map(abs, account.biases.values()))
    total = sum(leak.leak for leak in account.leaks)
    assert abs(total - account.error) < 1e-11 * max(size, 1)
    (rounding,) = (leak.leak for leak in account.leaks if leak.operation == "(rounding)")
    assert abs(rounding) < 1e-11 * max(size, 1)
