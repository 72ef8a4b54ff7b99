"""What is explained, where the answer is known exactly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn
from transformers.modeling_outputs import CausalLMOutput, ImageClassifierOutput

import libragrad
from libragrad import TargetError
from libragrad.targets import Contrast, Contrastive, Output, Predicted, goals

LABELS = ["tusker", "African elephant, Loxodonta africana", "zebra", "shower cap", "horse"]


def some_logits(images=3, classes=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(images, classes, generator=generator, dtype=torch.float64).requires_grad_()


def cotangent(goal, z):
    """∂y/∂z of each image."""
    (g,) = torch.autograd.grad(goal.scalars(z).sum(), z)
    return g


def one_hot(*classes):
    return torch.eye(5, dtype=torch.float64)[list(classes)]


# Each row: the target, and the class it means for each of the three images below.
Z = torch.tensor(
    [[0.0, 4.0, 1.0, 2.0, 3.0], [5.0, 1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 7.0, 3.0, 2.5]],
    dtype=torch.float64,
)
CLASSES = [
    (None, (1, 0, 2)),
    ("predicted", (1, 0, 2)),
    ("Second", (4, 4, 3)),
    (Predicted(3), (3, 3, 4)),
    (2, (2, 2, 2)),
    (np.int64(3), (3, 3, 3)),
    (-1, (4, 4, 4)),
    (torch.tensor(2), (2, 2, 2)),
    (torch.tensor([0, 3, 1], dtype=torch.int32), (0, 3, 1)),
    (np.array([0, 3, 1]), (0, 3, 1)),
    ("zebra", (2, 2, 2)),
    ([2, "loxodonta africana", "second"], (2, 1, 3)),
    ((np.int64(4), torch.tensor(0), Predicted()), (4, 0, 2)),
]


@pytest.mark.parametrize(("target", "classes"), CLASSES)
def test_a_target_means_a_class_for_each_image(target, classes):
    z = Z.clone().requires_grad_()
    goal = goals(target, z, labels=LABELS)
    assert goal.indices is not None
    assert tuple(goal.indices.tolist()) == classes
    assert goal.labels == tuple(LABELS[c].split(",")[0] for c in classes)
    assert goal.scalars(z).tolist() == [Z[i, c] for i, c in enumerate(classes)]
    assert torch.equal(cotangent(goal, z), one_hot(*classes))


def test_a_contrast_is_a_difference():
    z = Z.clone().requires_grad_()
    goal = goals(Contrast("zebra", "African elephant"), z, labels=LABELS)
    assert goal.labels == ("zebra − African elephant",) * 3
    assert goal.scalars(z).tolist() == [-3.0, 1.0, 5.0]
    assert torch.equal(cotangent(goal, z), one_hot(2, 2, 2) - one_hot(1, 1, 1))
    ranks = goals(Contrast("predicted", torch.tensor([0, 1, 2])), z, labels=LABELS)
    assert ranks.scalars(z).tolist() == [4.0, 4.0, 0.0]


def test_images_may_differ_in_what_is_asked_of_them():
    z = Z.clone().requires_grad_()
    goal = goals(["zebra", Contrast("tusker", "second"), 0], z, labels=LABELS)
    expected = one_hot(2, 0, 0)
    expected[1, 4] = -1.0
    assert goal.labels == ("zebra", "tusker − horse", "tusker")
    assert goal.scalars(z).tolist() == [1.0, 1.0, 1.0]
    assert torch.equal(cotangent(goal, z), expected)


def test_without_labels_a_class_is_its_number():
    assert goals([0, Contrast(1, 2), "second"], Z).labels == (
        "class 0",
        "class 1 − class 2",
        "class 3",
    )


def test_the_cotangent_of_a_probability():
    """∂p_t/∂z = p_t (e_t − p)."""
    z = some_logits()
    p = z.detach().softmax(1)
    goal = goals(torch.tensor([1, 4, 0]), z, kind=Output.PROBABILITY)
    p_t = p.gather(1, torch.tensor([[1], [4], [0]]))
    torch.testing.assert_close(goal.scalars(z), p_t[:, 0], rtol=1e-15, atol=0)
    torch.testing.assert_close(cotangent(goal, z), p_t * (one_hot(1, 4, 0) - p), rtol=0, atol=1e-16)


def test_the_cotangent_of_a_difference_of_probabilities():
    z = some_logits()
    p = z.detach().softmax(1)
    goal = goals(Contrast(1, 2), z, kind="probability")
    of_1, of_2 = (p[:, [t]] * (one_hot(t, t, t) - p) for t in (1, 2))
    torch.testing.assert_close(cotangent(goal, z), of_1 - of_2, rtol=0, atol=1e-16)


def test_the_cotangent_of_a_sigmoid():
    z = some_logits()
    p = z.detach().sigmoid()
    goal = goals(2, z, kind="sigmoid")
    torch.testing.assert_close(
        cotangent(goal, z), one_hot(2, 2, 2) * p * (1 - p), rtol=1e-14, atol=0
    )


def test_contrastive_takes_the_largest_others():
    """y = z_t − s · mean of the n largest others, whether t is among the largest or not."""
    z = Z.clone().requires_grad_()
    goal = goals([1, 1, 2], z, kind=Contrastive(n=2, s=0.5))
    assert goal.scalars(z).tolist() == [4 - 0.5 * 2.5, 1 - 0.5 * 4.5, 7 - 0.5 * 2.75]
    expected = one_hot(1, 1, 2) - 0.25 * (one_hot(4, 0, 3) + one_hot(3, 4, 4))
    assert torch.equal(cotangent(goal, z), expected)
    assert goals(1, z, kind="contrastive").scalars(z).tolist() == [1.0, -4.0, -5.0]


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_one_logit_is_two_classes(shape):
    z = torch.tensor([2.0, -3.0, 0.5], dtype=torch.float64).reshape(shape).requires_grad_()
    signs = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
    predicted = goals("predicted", z)
    assert predicted.labels == ("positive", "negative", "positive")
    assert predicted.scalars(z).tolist() == [2.0, 3.0, 0.5]
    assert torch.equal(cotangent(predicted, z).reshape(3), signs)
    assert goals([0, 1, 0], z).scalars(z).tolist() == [-2.0, -3.0, -0.5]
    p = z.detach().reshape(3).sigmoid()
    for kind in ("probability", "sigmoid"):
        torch.testing.assert_close(goals(1, z, kind=kind).scalars(z), p, rtol=1e-15, atol=0)
        torch.testing.assert_close(goals(0, z, kind=kind).scalars(z), 1 - p, rtol=1e-14, atol=0)
    assert goals("abnormal", z, labels=["abnormal"]).labels == ("abnormal",) * 3
    assert goals(0, z, labels=["abnormal"]).labels == ("not abnormal",) * 3
    assert goals("normal", z, labels=["normal", "abnormal"]).scalars(z).tolist() == [-2, 3, -0.5]


class Both(NamedTuple):
    loss: torch.Tensor
    logits: torch.Tensor


def containers():
    z = some_logits()
    sequence = torch.stack([z + 100, z - 100, z], 1)
    aside = torch.full((3, 9), 7.0, dtype=torch.float64)
    return {
        "tensor": (z, z),
        "tuple": ((torch.tensor([1, 2, 3]), z, aside), z),
        "named tuple": (Both(torch.tensor(0.3), z), z),
        "dictionary": ({"features": aside, "logits": z}, z),
        "object": (SimpleNamespace(logits=z), z),
        "ImageClassifierOutput": (ImageClassifierOutput(loss=torch.tensor(0.3), logits=z), z),
        "CausalLMOutput": (CausalLMOutput(logits=sequence), z),
        "sequence": (sequence, z),
    }


@pytest.mark.parametrize("name", containers())
def test_outputs_of_all_shapes(name):
    output, z = containers()[name]
    goal = goals([2, Contrast(0, 1), 4], output)
    expected = torch.stack([z[0, 2], z[1, 0] - z[1, 1], z[2, 4]])
    assert torch.equal(goal.scalars(output), expected)


@pytest.mark.parametrize("name", [n for n in containers() if n != "object"])
def test_what_a_complete_map_adds_up_to(name):
    """⟨∂y/∂z, z⟩: y itself for logits, p_t (z_t − Σ_j p_j z_j) for probabilities."""
    output, z = containers()[name]
    z = z.detach()
    p = z.softmax(1)
    logit = goals([2, Contrast(0, 1), 4], output)
    torch.testing.assert_close(
        logit.linear(output), logit.scalars(output).detach(), rtol=1e-14, atol=0
    )
    probability = goals(2, output, kind="probability").linear(output)
    torch.testing.assert_close(
        probability, p[:, 2] * (z[:, 2] - (p * z).sum(1)), rtol=1e-12, atol=1e-12
    )
    assert not logit.linear(output).requires_grad


def test_an_output_that_cannot_be_taken_apart_is_refused():
    output = SimpleNamespace(logits=Z)
    with pytest.raises(TargetError, match="is a SimpleNamespace, whose tensors cannot be replaced"):
        goals(0, output).linear(output)


def test_linear_of_a_callable_is_its_own():
    """For y = z₀² + z₁, ⟨∂y/∂z, z⟩ = 2 z₀² + z₁."""
    z = some_logits()
    goal = goals(lambda out: out["a"][:, 0] ** 2 + out["b"][:, 1], {"a": z, "b": z})
    torch.testing.assert_close(
        goal.linear({"a": z, "b": z}), (2 * z[:, 0] ** 2 + z[:, 1]).detach(), rtol=1e-15, atol=0
    )


def test_a_callable_takes_the_whole_output():
    z = some_logits()

    def margin(out):
        return out[:, 0] - out[:, 1:].amax(1)

    goal = goals(margin, z)
    assert goal.labels == ("margin",) * 3
    assert goal.indices is None
    assert torch.equal(goal.scalars(z), margin(z))
    segmentation = torch.randn(2, 4, 3, 3)
    assert goals(lambda y: y[:, 3].mean((1, 2)), segmentation).scalars(segmentation).shape == (2,)


def test_each_image_may_have_a_callable_of_its_own():
    z = Z.clone().requires_grad_()

    def first(row):
        return row[0]

    goal = goals([first, torch.sum, lambda row: row[:2].max()], z)
    assert goal.labels == ("first", "sum", "<lambda>")
    assert goal.scalars(z).tolist() == [0.0, 15.0, 2.0]
    swapped = goal.select(torch.tensor([1, 0, 0]))
    assert swapped.scalars(z).tolist() == [10.0, 5.0, 1.0]


def test_labels_may_be_asked_for_by_the_number_of_outputs():
    asked: list[int] = []

    def names(count):
        asked.append(count)
        return LABELS if count == 5 else None

    assert goals("zebra", Z, labels=names).labels == ("zebra",) * 3
    assert goals(0, Z[:, 0], labels=names).labels == ("negative",) * 3
    assert asked == [5, 1]


def test_a_goal_is_fixed_by_the_output_it_was_made_for():
    """Along a path another class may be the predicted one; what is explained stays."""
    goal = goals("predicted", Z)
    assert goal.scalars(-Z).tolist() == [-4.0, -5.0, -7.0]


def test_rows_of_a_goal():
    goal = goals(["zebra", Contrast("tusker", "horse"), "second"], Z, labels=LABELS)
    rows = torch.tensor([2, 1, 1])
    selected = goal.select(rows)
    assert selected.labels == ("shower cap", "tusker − horse", "tusker − horse")
    assert selected.indices is not None
    assert selected.indices.tolist() == [3, 0, 0]
    assert torch.equal(selected.scalars(Z[rows]), goal.scalars(Z)[rows])
    assert goals(lambda out: out[:, 0], Z).select(rows[:2]).scalars(Z[:2]).tolist() == [0.0, 5.0]


def test_a_batch_of_goals_equals_its_images():
    z = some_logits()
    targets: list[Any] = [3, "predicted", Contrast(0, "second")]
    for kind in (*Output, Contrastive(3, 0.5)):
        together = goals(targets, z, kind=kind).scalars(z)
        alone = [goals([t], z[[i]], kind=kind).scalars(z[[i]]) for i, t in enumerate(targets)]
        assert torch.equal(together, torch.cat(alone))


def test_the_audit_takes_the_same_targets():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 5)).double()
    x = torch.randn(3, 4, dtype=torch.float64)
    z = model(x)
    account = libragrad.audit(model, x, target=[0, Contrast(1, 2), "second"])
    y = z[0, 0] + z[1, 1] - z[1, 2] + z[2].topk(2).values[1]
    assert account.output == pytest.approx(y.item(), rel=1e-14)
    assert account.relative_error < 1e-12
