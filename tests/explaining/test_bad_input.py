"""Each mistake of a caller has one clear error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from libragrad import (
    GeometryError,
    InputError,
    Integrated,
    LibraGradError,
    MethodError,
    PresetError,
    Smooth,
    TargetError,
    explain,
)
from libragrad.explaining.archive import load
from tests.methods.tiny import built, pictures, timm_model, vit
from tests.reference.tiny_without_attention import TinyCNN, TinyMixer

NAMES = ["tench", "zebra", "African elephant", "tabby cat", "tiger cat"]


def broken() -> Tensor:
    x = pictures()
    x[1, 0, 3, 3] = torch.nan
    return x


def swin() -> Any:
    return timm_model(
        "swin_tiny_patch4_window7_224",
        img_size=32,
        embed_dim=16,
        depths=(2, 2),
        num_heads=(2, 2),
        window_size=4,
    )


class Blind(nn.Module):
    """No gradient leads from its output to its input."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = vit()

    def forward(self, x: Tensor) -> Tensor:
        z: Tensor = self.inner(x)
        return z.detach()


class Elsewhere(nn.Module):
    """Runs its blocks and answers from something else."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = vit()
        self.head = nn.Linear(4, 5, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        self.inner(x)
        z: Tensor = self.head(torch.ones(len(x), 4, dtype=x.dtype))
        return z


Case = tuple[Callable[[], Any], type[LibraGradError], str]

CASES: dict[str, Case] = {
    "one picture without a batch": (
        lambda: explain(vit(), pictures()[0], 0),
        InputError,
        "the VisionTransformer (weights: float64) cannot take an input of shape (3, 32, 32) and "
        "type float64: ValueError: not enough values to unpack (expected 4, got 3). One picture "
        "needs a batch dimension: inputs[None]",
    ),
    "another size": (
        lambda: explain(vit(), pictures(1, 40, 40), 0),
        InputError,
        "cannot take an input of shape (1, 3, 40, 40) and type float64: AssertionError: Input "
        "height (40) doesn't match model (32).",
    ),
    "another type": (
        lambda: explain(vit(), pictures().float(), 0),
        InputError,
        "the VisionTransformer (weights: float64) cannot take an input of shape (2, 3, 32, 32) and "
        "type float32",
    ),
    "no tensor": (
        lambda: explain(vit(), "zebra.png", 0),
        InputError,
        "inputs must be a tensor, a tuple of tensors, or a dictionary of keyword arguments, not "
        "str",
    ),
    "NaN": (
        lambda: explain(vit(), broken(), 0),
        InputError,
        "the input holds NaN or infinite values; find them with torch.isnan(inputs)",
    ),
    "an empty batch": (
        lambda: explain(vit(), pictures()[:0], 0),
        InputError,
        "the batch is empty: there is nothing to explain",
    ),
    "an unknown label": (
        lambda: explain(vit(), pictures(), "tabby cap", labels=NAMES),
        TargetError,
        "no class is named 'tabby cap'; the nearest are 'tabby cat' (3)",
    ),
    "a label of a model without labels": (
        lambda: explain(vit(), pictures(), "zebra"),
        TargetError,
        "'zebra' cannot be looked up: the model does not name its 5 outputs; give labels=[...], "
        "one name an output, or the class index",
    ),
    "a target out of range": (
        lambda: explain(vit(), pictures(), 5),
        TargetError,
        "target 5 is out of range: the output has 5 classes",
    ),
    "too many targets": (
        lambda: explain(vit(), pictures(), [0, 1, 2]),
        TargetError,
        "3 targets were given for 2 images: give one, or one an image",
    ),
    "a detached output": (
        lambda: explain(Blind(), pictures(), 0),
        InputError,
        "no gradient reaches the explained tokens: the output does not depend on what enters "
        "inner.blocks.0. Name where the tokens enter with start=…",
    ),
    "an output from elsewhere": (
        lambda: explain(Elsewhere(), pictures(), 0),
        GeometryError,
        "the output of Elsewhere was not seen to depend on any of its inputs; is it computed by "
        "operations that PyTorch can see?",
    ),
    "no blocks": (
        lambda: explain(built(nn.Linear(4, 3)), torch.ones(1, 4, dtype=torch.float64), 0),
        GeometryError,
        "no blocks were found in Linear",
    ),
    "attention of a CNN": (
        lambda: explain(built(TinyCNN()), pictures(1, 24, 32), 0, method="rawatt"),
        MethodError,
        "RawAtt does not apply here: no attention was met on the way back. It needs a transformer; "
        "a Mixer or a CNN has none. Take a gradient method, such as fullgrad+.",
    ),
    "a misspelt method": (
        lambda: explain(vit(), pictures(), 0, method="tokentn"),
        MethodError,
        "there is no method 'tokentn'; did you mean 'tokentm'? Methods are fullgrad+, ",
    ),
    "an unknown method": (
        lambda: explain(vit(), pictures(), 0, method="qqq"),
        MethodError,
        "there is no method 'qqq'. Methods are fullgrad+, ",
    ),
    "no name of a method": (
        lambda: explain(vit(), pictures(), 0, method=3),  # type: ignore[call-overload]
        MethodError,
        "a method is a name or a Method, such as 'fullgrad+'; got 3",
    ),
    "one name as methods": (
        lambda: explain(vit(), pictures(), 0, methods="fullgrad"),
        InputError,
        "methods='fullgrad' is one name: give method=, or a list of them",
    ),
    "one label as targets": (
        lambda: explain(vit(), pictures(), targets="zebra"),
        InputError,
        "targets='zebra' is one label: give target=, or a list of them",
    ),
    "attention at pixels": (
        lambda: explain(vit(), pictures(), 0, method="rollout", level="pixels"),
        MethodError,
        "Attention Rollout does not apply to level='pixels': attention knows tokens only. Take "
        "level='tokens', or a gradient method, such as fullgrad+.",
    ),
    "no methods": (
        lambda: explain(vit(), pictures(), 0, methods=[]),
        InputError,
        "nothing was asked for: methods=[] and targets=[] explain nothing",
    ),
    "an unknown level": (
        lambda: explain(vit(), pictures(), 0, level="patches"),
        InputError,
        "level='patches' is not known: it can be 'tokens', 'pixels' or the number of a block, "
        "0 to 2",
    ),
    "a block that is not there": (
        lambda: explain(vit(), pictures(), 0, level=3),
        InputError,
        "level=3 is not known",
    ),
    "an unknown kind of output": (
        lambda: explain(vit(), pictures(), 0, output="logits"),
        TargetError,
        "no output kind 'logits'; did you mean 'logit'?",
    ),
    "an unknown profile": (
        lambda: explain(vit(), pictures(), 0, profile="papers"),
        MethodError,
        "no profile 'papers'; it can be 'library' or 'paper'",
    ),
    "the name of a preset": (
        lambda: explain(vit(), pictures(), 0, preset="Libra"),  # type: ignore[call-overload]
        PresetError,
        "preset='Libra' is no preset: give one such as libragrad.LIBRA, or libragrad.PRESETS[name]",
    ),
    "a model in training mode": (
        lambda: explain(vit().train(), pictures(), 0),
        InputError,
        "the model is in training mode, in which dropout draws anew at each call and batch norm "
        "learns from it: call model.eval()",
    ),
    "the name of a path": (
        lambda: explain(vit(), pictures(), 0, path="integrated"),  # type: ignore[call-overload]
        InputError,
        "path='integrated' is no path: give libragrad.Point(), Integrated(steps=50) or Smooth(",
    ),
    "a path that was not made": (
        lambda: explain(vit(), pictures(), 0, path=Integrated),  # type: ignore[call-overload]
        InputError,
        "is no path: give libragrad.Point(), Integrated(steps=50) or Smooth(samples=25)",
    ),
    "no rows at a time": (
        lambda: explain(vit(), pictures(), 0, batch_size=0),
        InputError,
        "batch_size=0: at least one row must be run at a time",
    ),
    "pictures of another batch": (
        lambda: explain(vit(), pictures(), 0, pictures=torch.zeros(3, 3, 8, 8)),
        InputError,
        "pictures= must be (2, 3, H, W), one picture an input, with values in [0, 1]; got "
        "(3, 3, 8, 8)",
    ),
    "a baseline that does not fit": (
        lambda: explain(vit(), pictures(), 0, path=Integrated(4, baseline=torch.zeros(3, 32, 32))),
        InputError,
        "the baseline has the shape (3, 32, 32), which does not broadcast to what is explained, "
        "(2, 17, 16); with level='pixels' that is the picture",
    ),
    "a line without steps": (
        lambda: Integrated(steps=0),
        InputError,
        "an integrated path needs at least one step, got steps=0",
    ),
    "a cloud without points": (
        lambda: Smooth(samples=0),
        InputError,
        "a smooth path needs at least one sample, got 0",
    ),
    "a callable of the wrong shape": (
        lambda: explain(vit(), pictures(), lambda z: z),
        TargetError,
        "the target callable returned the shape (2, 5); it must return one number an image, (2,)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_has_one_clear_error(name: str) -> None:
    call, kind, text = CASES[name]
    with pytest.raises(LibraGradError) as caught:
        call()
    assert type(caught.value) is kind
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("method", "title"),
    [
        ("rollout", "Attention Rollout"),
        ("genatt", "GenAtt"),
        ("attcat", "AttCAT"),
        ("tokentm", "TokenTM"),
        ("rawatt", "RawAtt"),
    ],
)
def test_what_needs_attention_refuses_a_mixer_and_windows(method: str, title: str) -> None:
    for profile in ("library", "paper"):
        with pytest.raises(
            MethodError, match=f"^{title} does not apply here: no attention was met"
        ):
            explain(built(TinyMixer()), pictures(1, 24, 32), 0, method=method, profile=profile)
        with pytest.raises(
            MethodError, match=f"^{title} does not apply here: layer 3 attends from"
        ):
            explain(swin(), pictures(), 0, method=method, profile=profile)


def test_an_error_inside_is_not_blamed_on_the_model() -> None:
    def stumble(z: Tensor) -> Tensor:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        explain(vit(), pictures(), stumble)


def test_a_wrong_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^there is no file '.*nothing\.npz'$"):
        load(tmp_path / "nothing.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(InputError, match="is not an explanation that libragrad saved: it is no"):
        load(tmp_path / "text.npz")
    for number, arrays in enumerate(
        [
            {"a": np.zeros(3)},
            {"manifest": np.array("no json"), "map": np.zeros(3)},
            {"manifest": np.array("{}"), "map": np.zeros(3)},
            {"manifest": np.array([{}], dtype=object)},
        ]
    ):
        path = tmp_path / f"{number}.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="libragrad saved: it has no manifest that can be"):
            load(path)
