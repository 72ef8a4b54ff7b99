"""The real ViT-Tiny, two photographs with two animals each: each map lies on the animal asked for.

The criterion, for the top-valued quarter of the patches (49 of 196). Let the *density* of an animal
be the share of these patches that lies on it, divided by the share of the picture that it covers
(1: as chance would have it; the elephant of `el1.png` covers half, so no more than 2 is possible).

* The density of the animal asked for is at least 1.4.
* It is at least 1.8 times the density of the other animal.
* More of the quarter lies on the animal asked for than on the other.

Plain FullGrad+ fails it, so it is not met by chance.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from PIL import Image
from torch import Tensor

from libragrad import LIBRA, STANDARD, Explainer, Explanation, Preset
from libragrad.models.loaded import LoadedModel
from libragrad.models.loading import load

ASSETS = Path(__file__).parents[3] / "shared" / "assets"
MODEL = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"
ZEBRA, ELEPHANT = "zebra", "African elephant"

Box = tuple[int, int, int, int]
"""Left, top, right, bottom, in pixels of the model's 224 × 224 input."""

BOXES: dict[str, dict[str, tuple[Box, ...]]] = {
    "el1.png": {ZEBRA: ((0, 84, 71, 182),), ELEPHANT: ((102, 7, 224, 212),)},
    "el3.png": {
        ZEBRA: ((72, 111, 224, 208),),
        ELEPHANT: ((0, 54, 68, 192), (68, 80, 146, 112)),  # body, and the raised trunk
    },
}
"""Drawn by hand around each animal."""

pytestmark = pytest.mark.skipif(not ASSETS.exists(), reason="../shared/assets is absent")


class Found(NamedTuple):
    own: float
    """The density of the animal asked for."""
    other: float
    more: bool
    """Whether more of the quarter lies on it than on the other."""

    @property
    def right(self) -> bool:
        return self.own >= 1.4 and self.own >= 1.8 * self.other and self.more


@pytest.fixture(scope="module")
def vit_tiny() -> LoadedModel:
    return load(MODEL, ASSETS / f"{MODEL}.safetensors")


def covered(boxes: tuple[Box, ...]) -> Tensor:
    """Which part of each patch lies in a box, (196,)."""
    pixels = torch.zeros(224, 224)
    for left, top, right, bottom in boxes:
        pixels[top:bottom, left:right] = 1
    return pixels.unflatten(0, (14, 16)).unflatten(2, (14, 16)).mean((1, 3)).flatten()


def found(e: Explanation, own: Tensor, other: Tensor) -> Found:
    top = e.map.flatten().topk(49).indices
    shares = [float(animal[top].mean()) for animal in (own, other)]
    densities = [share / float(a.mean()) for share, a in zip(shares, (own, other), strict=True)]
    return Found(densities[0], densities[1], shares[0] > shares[1])


def answers(vit: LoadedModel, name: str, preset: Preset, output: str) -> list[Found]:
    assert vit.preprocess is not None
    x = vit.preprocess(Image.open(ASSETS / "two_animals" / name))[None]
    animals = (ZEBRA, ELEPHANT)
    explainer = Explainer(vit.model, labels=vit.labels)
    each = explainer.explain(x, targets=animals, method="fullgrad+", preset=preset, output=output)
    zebra, elephant = (covered(BOXES[name][animal]) for animal in animals)
    assert [e.labels for e in each] == [(ZEBRA,), (ELEPHANT,)]
    return [found(each[0], zebra, elephant), found(each[1], elephant, zebra)]


@pytest.mark.parametrize("output", ["logit", "probability"])
@pytest.mark.parametrize("name", BOXES)
def test_libra_fullgrad_plus_tells_the_animals_apart(
    vit_tiny: LoadedModel, name: str, output: str
) -> None:
    for animal, answer in zip(
        (ZEBRA, ELEPHANT), answers(vit_tiny, name, LIBRA, output), strict=True
    ):
        assert answer.right, (animal, answer)


def test_plain_fullgrad_plus_does_not(vit_tiny: LoadedModel) -> None:
    plain = [one for name in BOXES for one in answers(vit_tiny, name, STANDARD, "logit")]
    assert not any(one.right for one in plain)


def test_the_account_of_a_real_logit_balances(vit_tiny: LoadedModel) -> None:
    """In single precision."""
    assert vit_tiny.preprocess is not None
    x = vit_tiny.preprocess(Image.open(ASSETS / "two_animals" / "el1.png"))[None]
    e = Explainer(vit_tiny.model, labels=vit_tiny.labels).explain(x, ZEBRA, method="fullgrad")
    assert float(e.completeness) < 1e-4
    assert e.labels == (ZEBRA,)
