"""The instruments of the benchmarks, where the answer is known; and the page they write."""

import pytest
import torch
from torch import nn

from benchmarks.__main__ import options
from benchmarks.contender import Local, Unavailable
from benchmarks.flops import Flops, count
from benchmarks.goals import goals
from benchmarks.gradients import FROZEN, LIBRA, WEIGHTS, frozen
from benchmarks.largest import LargestTensor
from benchmarks.memory import Memory, _measure
from benchmarks.overhead import Overhead
from benchmarks.report import page
from benchmarks.rounds import Times, interleave
from benchmarks.saved import SavedBytes
from benchmarks.speed import Speed
from benchmarks.workload import Workload

FLOAT = 4


@pytest.fixture
def workload():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Sigmoid(), nn.Linear(16, 4))
    return Workload("tiny", "a tiny model", "row", model, torch.randn(3, 8), tokens=5)


def test_saved_bytes_of_a_frozen_model_are_what_the_sigmoid_keeps(workload):
    with SavedBytes(workload.model) as counter:
        FROZEN.backward(*FROZEN.forward(workload))
    assert counter.peak == 3 * 16 * FLOAT
    assert counter.now == 0


def test_saved_bytes_with_weights_add_the_input_and_count_a_shared_storage_once(workload):
    with SavedBytes(workload.model) as counter:
        WEIGHTS.backward(*WEIGHTS.forward(workload))
    assert counter.peak == (3 * 8 + 3 * 16) * FLOAT


def test_saved_bytes_of_two_passes_in_turn_are_those_of_one(workload):
    with SavedBytes(workload.model) as counter:
        for _ in range(3):
            FROZEN.backward(*FROZEN.forward(workload))
    assert counter.peak == 3 * 16 * FLOAT


def test_a_view_counts_as_the_storage_that_it_keeps():
    whole = torch.ones(100, requires_grad=True).exp().detach()
    x = torch.ones(10, requires_grad=True)
    with SavedBytes(nn.Identity()) as counter:
        _kept = (x * whole[:10]) + (x * whole[10:20])
    assert counter.peak == 100 * FLOAT


def test_the_largest_tensor_of_a_forward_and_of_a_backward():
    a = torch.ones(7, 1, requires_grad=True)
    with LargestTensor() as forward:
        y = (a @ torch.ones(1, 11)).sum()
    assert (forward.numel, forward.operation) == (77, "aten.mm.default")
    with LargestTensor() as backward:
        torch.autograd.grad(y, a)
    assert (backward.numel, backward.operation) == (77, "aten.expand.default")


def test_the_largest_tensor_tells_explicit_attention_from_fused():
    q = torch.randn(1, 1, 64, 8, requires_grad=True)
    with LargestTensor() as explicit:
        torch.autograd.grad(((q @ q.mT).softmax(-1) @ q).sum(), q)
    with LargestTensor() as fused:
        torch.autograd.grad(nn.functional.scaled_dot_product_attention(q, q, q).sum(), q)
    assert fused.numel < 64 * 64 <= explicit.numel


def test_freezing_lasts_as_long_as_its_context(workload):
    workload.model[0].bias.requires_grad_(False)
    before = [parameter.requires_grad for parameter in workload.model.parameters()]
    with frozen(workload.model):
        assert not any(parameter.requires_grad for parameter in workload.model.parameters())
    assert [parameter.requires_grad for parameter in workload.model.parameters()] == before


def test_flops_and_their_limit(workload):
    flops = count(workload)
    assert (flops.linear, flops.attention) == (2 * 3 * (8 * 16 + 16 * 4), 0)
    assert flops.limit == 2
    assert Flops(linear=0, attention=4).limit == 1.5


def test_fused_attention_is_counted_apart_and_by_half_if_causal(workload):
    class Attention(nn.Module):
        def forward(self, x):
            return nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)

    x = torch.randn(1, 2, 16, 8)
    flops = count(Workload("attention", "", "row", Attention(), x, tokens=16))
    assert (flops.linear, flops.attention) == (0, 2 * 2 * 16 * 16 * 8)


class Scripted:
    """A contender whose seconds are written down beforehand."""

    most_rounds = None
    note = ""

    def __init__(self, name, seconds):
        self.name = name
        self.script = iter(seconds)

    def seconds(self, repeats):
        return next(self.script)

    def saved(self):
        return 0

    def finite(self):
        return True

    def close(self):
        pass


def test_each_time_is_a_multiple_of_the_forward_of_its_own_round():
    forward = Scripted("forward", [9, 9, 1, 2, 4])
    other = Scripted("other", [9, 9, 2, 6, 16])
    seconds, (times,) = interleave(forward, [other], rounds=3)
    assert times.multiples == [2, 3, 4]
    assert (seconds, times.median) == (2, 3)


def test_a_contender_that_cannot_run_gives_its_reason(workload):
    class Broken(Scripted):
        def finite(self):
            raise Unavailable("no such model")

    _, (times,) = interleave(Scripted("forward", [1] * 9), [Broken("broken", [])], rounds=2)
    assert (times.median, times.note) == (None, "no such model")


def test_a_result_that_is_not_finite_is_noted(workload):
    call = Local("nan", workload, lambda: torch.tensor([torch.nan]))
    _, (times,) = interleave(Scripted("forward", [1] * 9), [call], rounds=1)
    assert times.note == "its result is not finite here"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("gradient", [FROZEN, WEIGHTS])
def test_memory_of_a_tiny_model(workload, gradient):
    memory = _measure(gradient, workload)
    assert 3 * 16 * FLOAT <= memory.held <= memory.peak
    assert 3 * 16 * FLOAT <= memory.largest <= memory.peak
    assert memory.square == 25
    assert not memory.is_linear


def test_goals_are_judged_from_the_measurements():
    rows = [
        Times(LIBRA.name, [1.8, 1.9, 2.0], saved=40),
        Times(FROZEN.name, [1.8], saved=50),
        Times(WEIGHTS.name, [2.9], saved=90),
    ]
    speed = Speed("vit-b", "ViT-B", "image", 4, 0.1, 1.98, 3, rows)
    memory = Memory("decoder-16384", "decoder", LIBRA.name, 1, 2, 1, 100, "aten.mm", 16384**2)
    slow = Overhead("ViT-T", False, 0.01, Times("forward", [1.2]))
    verdicts = {goal.what: goal.reached for goal in goals([speed], [memory], [slow])}
    assert verdicts == {
        "ViT-B time, × forward": True,
        "ViT-B time, × frozen plain autograd": False,
        "ViT-B bytes saved, × plain autograd, weight gradients": True,
        "ViT-B bytes saved, × plain autograd, frozen weights": False,
        "no N×N tensor at 16,384 tokens, forward and backward": True,
        "the mode's overhead, ViT-T, no grad": False,
    }


def test_the_page():
    rows = [
        Times(LIBRA.name, [1.7, 1.9, 1.8], saved=8 * 2**20),
        Times("a peer", note="not installed (peer)"),
    ]
    speed = Speed("vit-t", "`vit`, batch 4", "image", 4, 0.0123, 1.975, 3, rows)
    memory = Memory("d", "decoder", LIBRA.name, 2**20, 2**21, 2**19, 1000, "aten.mm", 4096)
    cost = Overhead("ViT-T", True, 0.01, Times("forward", [1.1]))
    none = goals([], [], [])
    text = page("python -m benchmarks", ["2 cores"], [speed], [memory], [cost], None, none)
    assert "```\npython -m benchmarks\n```\n\n* 2 cores\n" in text
    assert "### `vit`, batch 4\n\nForward 12 ms, 3 rounds, limit 1.98 × forward." in text
    assert "| LibraGrad, input gradient | 1.80 (1.70–1.90) | 2.0 |  |" in text
    assert "| a peer | – | – | not installed (peer) |" in text
    assert "| decoder | LibraGrad, input gradient | 1.0 | 2.0 | 0.5 | 1,000 | 4,096 |" in text
    assert "| ViT-T | with grad | 10.0 | 1.10 | 10.0% |" in text
    assert "## Goals" not in text


def test_a_part_of_the_run_does_not_overwrite_the_page(capsys):
    assert str(options([]).output) == "docs/performance.md"
    assert options(["--only", "vit-t"]).output is None
    assert options(["--quick"]).output is None
    with pytest.raises(SystemExit):
        options(["--only", "vit-x"])
    assert "unknown part vit-x; the parts are vit-t, vit-b" in capsys.readouterr().err
