"""The account: inputs + biases + error = output, and the leaks that are the error."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from libragrad import ABLATIONS, LIBRA, PRESETS, STANDARD, audit, balanced
from tests.checks import Operation
from tests.engine.networks import convnet, gradient, images, mlp, randomised, rows, vit

EVERY_PRESET = list({**PRESETS, **ABLATIONS}.values())
MODELS = [vit, convnet]


@pytest.mark.parametrize("build", MODELS)
@pytest.mark.parametrize("preset", EVERY_PRESET, ids=lambda preset: preset.name)
def test_the_account_adds_up(build, preset):
    model, x = build(), images()
    account = audit(model, x, 1, preset)
    with balanced(preset):
        g = gradient(model, x)
    assert account.output == pytest.approx(float(model(x).detach()[:, 1].sum()), rel=1e-15)
    assert account.inputs == pytest.approx(float((g * x).sum()), rel=1e-12)
    assert account.explained == account.inputs + sum(account.biases.values())
    assert account.error == account.output - account.explained
    assert account.relative_error == abs(account.error) / abs(account.output)
    leaks = [leak.leak for leak in account.leaks]
    assert sum(leaks) == pytest.approx(account.error, abs=1e-12)
    assert sorted(leaks, key=abs, reverse=True) == leaks
    assert sum(account.by_operation().values()) == pytest.approx(account.error, abs=1e-12)
    assert account.preset is preset
    assert account.unknown == []


@pytest.mark.parametrize("build", MODELS)
def test_under_libra_it_balances(build):
    account = audit(build(), images(), 1)
    assert account.relative_error < 1e-13
    assert all(abs(leak.leak) < 1e-13 for leak in account.leaks)


def test_under_standard_layer_norm_is_the_main_leak_of_a_vit():
    account = audit(vit(), images(), 1, STANDARD)
    operation, leak = next(iter(account.by_operation().items()))
    assert operation == "layer_norm"
    assert abs(leak) > sum(map(abs, list(account.by_operation().values())[1:]))
    assert account.leaks[0].operation == "layer_norm"
    assert account.leaks[0].module in {"norm", "blocks.0.norm2", "blocks.1.norm2"}


def test_each_ablation_leaks_where_it_is_ablated():
    kinds = {
        "no attention": {"scaled_dot_product_attention"},
        "no LayerNorm": {"layer_norm"},
        "neither": {"scaled_dot_product_attention", "layer_norm"},
        "no activation": {"gelu"},
        "no gate": set(),
        "plain": {"scaled_dot_product_attention", "layer_norm", "gelu"},
    }
    for name, leaky in kinds.items():
        account = audit(vit(), images(), 1, ABLATIONS[name])
        assert {leak.operation for leak in account.leaks if abs(leak.leak) > 1e-12} == leaky


def test_known_answers():
    """y = x² + 3 at x = 2: the plain gradient gives 2x² to the input, so x² is counted twice."""
    model = Operation(lambda x: x * x + 3)
    x = torch.tensor([[2.0]]).double()
    plain, libra = audit(model, x, Tensor.sum, STANDARD), audit(model, x, Tensor.sum)
    assert (plain.output, plain.inputs, plain.explained, plain.error) == (7, 8, 11, -4)
    assert (libra.output, libra.inputs, libra.explained, libra.error) == (7, 4, 7, 0)
    assert [tuple(place) for place in plain.biases] == [("add", "")]
    assert tuple(plain.leaks[0]) == ("mul", "", -4)
    assert plain.relative_error == 4 / 7
    assert libra.operations == {"product with a constant": 1, "value × value": 1, "affine": 1}


def test_it_prints_as_a_table():
    model = nn.Sequential(Operation(lambda x: x * x + 3))
    x = torch.tensor([[2.0]]).double()
    assert str(audit(model, x, Tensor.sum, STANDARD)).splitlines() == [
        "Account under Standard",
        "  input × gradient                                     8    114.3%",
        "  1 bias terms                                         3     42.9%",
        "  explained                                           11    157.1%",
        "  output                                               7    100.0%",
        "  error                                               -4  (5.7e-01 of output)",
        "Leaks, largest first (1 in all)",
        "  mul at 0                                            -4    -57.1%",
        "Leaks by operation",
        "  mul                                                 -4    -57.1%",
        "Operations by rule",
        "  1 product with a constant, 1 value × value, 1 affine",
    ]
    assert str(audit(model, x, Tensor.sum)).splitlines()[6] == "No operation leaks."


@pytest.mark.parametrize("preset", [LIBRA, STANDARD], ids=lambda preset: preset.name)
def test_the_table_is_narrow(preset):
    assert all(len(line) <= 78 for line in str(audit(vit(), images(), 1, preset)).splitlines())


def test_places_are_module_paths():
    account = audit(vit(), images(), 1)
    assert {place.module for place in account.biases} >= {
        "patches",
        "blocks.0.norm1",
        "blocks.0.attention.qkv",
        "blocks.1.mlp.2",
        "norm",
        "head",
        "",
    }
    head = next(b for place, b in account.biases.items() if place == ("linear", "head"))
    assert head == pytest.approx(2 * float(vit().get_parameter("head.bias").detach()[1]))


def test_operations_are_counted_by_rule():
    account = audit(mlp(), rows(), 1)
    assert account.operations == {
        "linear layer": 2,
        "product with a constant": 1,
        "gated activation": 1,
        "layer norm": 1,
    }


def test_a_batch_is_the_sum_of_its_examples():
    together = audit(vit(), images(3), torch.tensor([0, 1, 2]))
    apart = [audit(vit(), x, i) for i, x in enumerate(images(3).split(1))]
    assert together.output == pytest.approx(sum(each.output for each in apart), rel=1e-12)
    assert together.inputs == pytest.approx(sum(each.inputs for each in apart), rel=1e-12)


def test_no_target_is_each_example_s_largest_output():
    model, x = mlp(), rows(3)
    best = model(x).argmax(1)
    assert audit(model, x).output == pytest.approx(audit(model, x, best).output, rel=1e-15)


def test_a_target_may_be_a_function_of_the_output():
    model, x = mlp(), rows()
    contrast = audit(model, x, lambda y: y[:, 0] - y[:, 1])
    first, second = audit(model, x, 0), audit(model, x, 1)
    assert contrast.output == pytest.approx(first.output - second.output, rel=1e-12)
    assert contrast.inputs == pytest.approx(first.inputs - second.inputs, rel=1e-12)
    assert contrast.relative_error < 1e-12


class Reader(nn.Module):
    """Tokens to classes, with positions and a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(10, 4), nn.Embedding(5, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        h = self.words(ids)
        h += self.positions(torch.arange(ids.shape[1]))
        if mask is not None:
            h = h * mask[..., None]
        y: Tensor = self.head(h.sum(1))
        return y


IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])
MASK = torch.tensor([[1, 1, 0], [1, 1, 1]])


def test_of_tokens_the_embeddings_are_explained():
    model = randomised(Reader())
    account = audit(model, IDS, 1)
    rows_of_head = model.get_parameter("head.weight").detach()[1]
    embedded = model.get_parameter("words.weight").detach()[IDS].sum((0, 1))
    assert account.inputs == pytest.approx(float(rows_of_head @ embedded), rel=1e-12)
    assert account.relative_error < 1e-13


def test_inputs_may_be_a_tuple_or_keywords():
    model = randomised(Reader())
    by_name = audit(model, {"mask": MASK, "ids": IDS}, 1)
    in_order = audit(model, (IDS, MASK), 1)
    assert by_name.inputs == in_order.inputs
    assert by_name.relative_error < 1e-13
    assert by_name.inputs != audit(model, IDS, 1).inputs


def test_two_inputs_share_the_account():
    a, b = rows(seed=1), rows(seed=2)
    account = audit(Operation(torch.mul), (a, b), lambda y: y.sum())
    assert account.inputs == pytest.approx(float((a * b).sum()), rel=1e-12)


def test_an_input_that_is_given_twice_is_counted_twice():
    x = rows()
    account = audit(Operation(torch.add), (x, x), lambda y: y.sum())
    assert account.inputs == pytest.approx(float(2 * x.sum()), rel=1e-12)


def test_a_model_that_changes_its_input_is_explained():
    account = audit(Operation(lambda x: x.mul_(2).add_(1)), rows(), 1)
    assert account.inputs == pytest.approx(float(2 * rows()[:, 1].sum()), rel=1e-12)
    assert account.error == pytest.approx(0, abs=1e-12)


def test_an_output_that_ignores_the_input_is_all_bias():
    account = audit(Operation(lambda x: torch.ones(2, 3).double()), rows(), 1)
    assert (account.inputs, account.output, account.error) == (0, 2, 0)
    assert list(account.biases.values()) == [2]


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_an_audit_may_be_kept_anywhere(mode):
    model = vit()
    wanted = audit(model, images(), 1)
    with mode(), balanced(STANDARD):
        account = audit(model, images(), 1)
    assert account.inputs == wanted.inputs
    assert account.leaks == wanted.leaks
