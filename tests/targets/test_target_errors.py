"""Each wrong target is one clear sentence."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from libragrad import TargetError
from libragrad.targets import Contrast, Contrastive, Predicted, goals

Z = torch.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 1.0]])
LABELS = ["tiger cat", "Egyptian cat", "zebra"]

REQUIRED = torch.zeros(3, requires_grad=True)


def a_nan():
    z = Z.clone()
    z[1, 0] = torch.nan
    return z


# The target, the output, further arguments, and what the error says.
ERRORS = [
    (3, Z, {}, "target 3 is out of range: the output has 3 classes"),
    (-4, Z, {}, "target -4 is out of range: the output has 3 classes"),
    (10**20, Z, {}, "target 100000000000000000000 is out of range: no output has so many classes"),
    ([0, 7], Z, {}, "target 7 is out of range: the output has 3 classes"),
    (torch.tensor([0, 5]), Z, {}, "target [0, 5] is out of range: the output has 3 classes"),
    (2, Z[:, :1], {}, "target 2 is out of range: the output has 2 classes (one logit: 0 is neg"),
    (torch.tensor([1, 1, 1]), Z, {}, "3 targets were given for 2 images: give one, or"),
    ([1], Z, {}, "1 targets were given for 2 images"),
    (torch.tensor([[1], [1]]), Z, {}, "targets are one index an image, not of shape (2, 1)"),
    (1.0, Z, {}, "a target is a class index, a label, Predicted, Contrast or Prompt, a sequence"),
    (True, Z, {}, "or a callable on the output; got True"),
    (np.bool_(True), Z, {}, "or a callable on the output; got np.True_"),
    (torch.tensor([1.0, 0.0]), Z, {}, "a target index must be an integer, not torch.float32"),
    (np.array([True, False]), Z, {}, "a target index must be an integer, not torch.bool"),
    (Predicted(4), Z, {}, "there is no class of rank 4: the output has 3 classes"),
    ([[0, 1], 2], Z, {}, "or Prompt, or each is a callable; got list"),
    ([abs, 2], Z, {}, "or each is a callable; got builtin_function_or_method"),
    ([abs], Z, {}, "1 callables were given for 2 images"),
    ([lambda z: z[0], lambda z: z], Z, {}, "of an image returned the shape (3,); it takes that"),
    (lambda z: z[:, 0], Z, {"kind": "sigmoid"}, "so output='sigmoid' has no meaning"),
    (Contrast(Contrast(0, 1), 2), Z, {}, "or a callable on the output; got Contrast(a=0, b=1)"),  # type: ignore[arg-type]
    ("zebra", Z, {}, "'zebra' cannot be looked up: the model does not name its 3"),
    ("zebr", Z, {"labels": LABELS[:2]}, "2 labels were given for 3 outputs"),
    ("cat", Z, {"labels": LABELS}, "ambiguous: it names 'tiger cat' (0), 'Egyptian cat' (1); give"),
    ("zerba", Z, {"labels": LABELS}, "no class is named 'zerba'; the nearest are 'zebra' (2)"),
    ("quux", Z, {"labels": LABELS}, "'quux'; there are 3 classes, from 'tiger cat' to 'zebra'"),
    (" ", Z, {"labels": LABELS}, "the label is empty: give a class's name or its index"),
    (0, Z, {"kind": "probabilty"}, "no output kind 'probabilty'; did you mean 'probability'?"),
    (0, Z, {"kind": "xyz"}, "kind 'xyz'; it can be logit, probability, sigmoid, contrastive"),
    (0, Z, {"kind": Contrastive(n=3)}, "was asked for, but there are 2 others"),
    (0, Z, {"kind": Contrastive(n=0)}, "the mean of the 0 largest other logits was asked for"),
    (0, a_nan(), {}, "the model's output is NaN for image(s) [1]"),
    (None, torch.zeros(2, 3, 4, 4), {}, "shape (2, 3, 4, 4), which has no class axis"),
    (0, torch.tensor(1.0), {}, "the output has the shape (), which has no class axis"),
    (0, {"ids": torch.tensor([1])}, {}, "the model's output (dict) holds no floating-point tensor"),
    (lambda z: 3.0, Z, {}, "the target callable returned float, not a tensor"),
    (lambda z: z.sum(), Z, {}, "the shape (); it must return one number an image, (2,)"),
    (lambda z: z[:, :1], Z, {}, "the shape (2, 1); it must return one number"),
    (lambda z: z.argmax(1), Z, {}, "returned torch.int64, which has no gradient"),
    (lambda z: z[:, 0] / 0 * 0, Z, {}, "the target callable returned NaN"),
    (lambda z: z[:, 0].detach(), Z + REQUIRED, {}, "a number without a gradient"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "output", "more", "says"), ERRORS)
def test_a_wrong_target_is_refused(target, output, more, says):
    with pytest.raises(TargetError, match=re.escape(says)):
        goals(target, output, **more)


def test_a_rank_begins_at_one():
    with pytest.raises(TargetError, match=r"ranks begin at 1 .*, got rank=0"):
        Predicted(0)


def test_a_goal_is_of_as_many_images_as_it_was_made_for():
    with pytest.raises(TargetError, match=r"of 2 images and the output of 1: take .* select"):
        goals(0, Z).scalars(Z[:1])
