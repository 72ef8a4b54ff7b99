"""`explain`: one line from a model and an input to a map that adds up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from torch import Tensor, nn

from libragrad.explaining.batch import Given
from libragrad.explaining.explainer import Explainer
from libragrad.explaining.explanation import Explanation, Explanations
from libragrad.explaining.options import ModelOptions
from libragrad.methods.method import Method, Profile
from libragrad.paths import Path
from libragrad.presets import LIBRA, Preset
from libragrad.targets import Contrastive, Output, Target

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def explain(
    model: nn.Module, inputs: Given, target: Target = None, **options: Unpack[ModelOptions]
) -> Explanation: ...
@overload
def explain(
    model: nn.Module,
    inputs: Given,
    target: Target = None,
    *,
    methods: Sequence[str | Method],
    targets: Sequence[Target] | None = None,
    **options: Unpack[ModelOptions],
) -> Explanations: ...
@overload
def explain(
    model: nn.Module,
    inputs: Given,
    target: Target = None,
    *,
    targets: Sequence[Target],
    **options: Unpack[ModelOptions],
) -> Explanations: ...
def explain(
    model: nn.Module,
    inputs: Given,
    target: Target = None,
    *,
    method: str | Method = "fullgrad+",
    methods: Sequence[str | Method] | None = None,
    targets: Sequence[Target] | None = None,
    preset: Preset = LIBRA,
    path: Path | None = None,
    output: Output | Contrastive | str = Output.LOGIT,
    profile: Profile | str = Profile.LIBRARY,
    level: str | int = "tokens",
    batch_size: int | None = None,
    checkpoint: bool = False,
    pictures: Tensor | None = None,
    seed: int = 0,
    labels: Sequence[str] | None = None,
    **found: Any,
) -> Explanation | Explanations:
    """Explain why a model answered as it did: an `Explanation` with a map for each input.

    The model stays as it is, and its output too; see `libragrad.balanced`. Attribution is an
    aggregator (`method`) of a backward pass (`preset`) along a `path`.

    Args:
        model: any PyTorch model.
        inputs: what it takes: a tensor, a tuple, or a dictionary of keyword arguments.
        target: what is explained: a class index, a label, "predicted", "second", `Contrast(a, b)`,
            `Prompt("a spoon")` for models with a text tower, a sequence with one of these an input,
            or a callable on the output. None is the predicted class.
        method: a key or title of `libragrad.METHODS`.
        methods: several methods; those of one preset share one forward and one backward.
        targets: several targets, for one forward. With `methods` or `targets` the answer is
            `Explanations`, targets first.
        preset: the backward. Methods that define their own (AliLRP, …) keep it.
        path: where gradients are taken: `Point()`, `Integrated(steps=50, baseline=None)`,
            `Smooth(samples=25)`.
        output: "logit", "probability", "sigmoid", "contrastive" or `Contrastive(n, s)`.
        profile: "paper" computes what the LibraGrad paper's code does, quirks included.
        level: "tokens" (h₀), "pixels", or the number of a block.
        batch_size: how many rows (inputs × points of the path) are run at a time.
        checkpoint: run each block again in the backward, to save memory.
        pictures: what to draw under the maps, (B, 3, H, W) in [0, 1].
        seed: of methods that draw numbers.
        labels: the names of the model's outputs, if it does not know them itself.
        found: parts of the geometry that are not to be discovered (`blocks=`, `start=`, …).

    >>> from libragrad.models import mosaic
    >>> model, data = mosaic.load(), mosaic.mosaic_images()
    >>> picture = mosaic.preprocess(data.images[0])
    >>> e = explain(model, picture, targets=list(data.names(0)), methods=["fullgrad", "genatt"])
    >>> len(e), e[0].name, e[1].name
    (8, 'Libra FullGrad', 'Libra GenAtt')
    """
    ask: Any = Explainer(model, labels=labels, **found).explain  # whichever form was asked for
    answer: Explanation | Explanations = ask(
        inputs,
        target,
        method=method,
        methods=methods,
        targets=targets,
        preset=preset,
        path=path,
        output=output,
        profile=profile,
        level=level,
        batch_size=batch_size,
        checkpoint=checkpoint,
        pictures=pictures,
        seed=seed,
    )
    return answer
