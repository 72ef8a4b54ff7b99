"""What a method is: a name, a formula, a citation, and an observer of the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from torch import Tensor

from libragrad.errors import MethodError
from libragrad.geometry.geometry import Readout
from libragrad.observation.attention import Attention
from libragrad.observation.events import Scene
from libragrad.observation.observer import Observer
from libragrad.presets import Preset


class Profile(Enum):
    """Whose reading of a method is meant, where two exist."""

    LIBRARY = "library"
    """The method's own paper and the correct mathematics. The default."""
    PAPER = "paper"
    """What the released code of the LibraGrad paper computes, quirks included."""

    @classmethod
    def _missing_(cls, value: object) -> Profile:
        names = " or ".join(repr(profile.value) for profile in cls)
        raise MethodError(f"no profile {value!r}; it can be {names}")


@dataclass(frozen=True)
class Method:
    """A line of the table of methods."""

    key: str
    """What one types."""
    title: str
    """What one reads: the name in the paper."""
    formula: str
    citation: str
    observer: type[Observer]
    paper: type[Observer] | None = None
    """The reading of `profile="paper"`, where it differs."""
    gradient: bool = True
    """False where nothing of the backward counts, so that presets have no meaning."""
    preset: Preset | None = None
    """The backward that is part of the method's definition, if one is."""

    def reading(self, profile: Profile) -> type[Observer]:
        """Return the observer of a pass, under the profile's reading of the method."""
        return self.paper or self.observer if profile is Profile.PAPER else self.observer

    def name(self, preset: Preset, path: str = "") -> str:
        """Return the name as people read it: "Libra FullGrad+", "Int. GenAtt".

        Plain backpropagation and a preset that is part of the method go without saying.
        """
        word = "" if not self.gradient or self.preset is not None else _word(preset)
        return f"{path}{word}{self.title}"


def square(at: Attention, scene: Scene, title: str) -> None:
    """Refuse attention that does not go from all tokens to all tokens."""
    queries, keys = at.weights.shape
    if (queries, keys) != (scene.tokens, scene.tokens):
        raise MethodError(
            f"{title} does not apply here: layer {at.layer} attends from {queries} to {keys} "
            f"tokens (windows, pooling or a cross attention), and a rollout needs all "
            f"{scene.tokens} × {scene.tokens}. Take a gradient method, such as fullgrad+."
        )


def pools(at: Attention, scene: Scene) -> bool:
    """Tell an attention pool: queries of the head's own read all the tokens."""
    queries, keys = at.weights.shape
    return scene.reads is Readout.ATTENTION_POOL and keys == scene.tokens != queries


def from_pool(at: Attention, of: Callable[[Tensor, Tensor], Tensor], *, gradient: bool) -> Tensor:
    """Return what an attention pool reads of each token: the mean over its queries of `of`."""
    queries = at.weights.shape[0]
    everywhere = at.g.new_full((at.weights.rows, queries), 1 / queries)
    return at.pull(everywhere, of, gradient=gradient)


def with_attention(met: bool, title: str) -> None:
    """Refuse a model in which no attention was met."""
    if not met:
        raise MethodError(
            f"{title} does not apply here: no attention was met on the way back. It needs a "
            "transformer; a Mixer or a CNN has none. Take a gradient method, such as fullgrad+."
        )


def row_zero(scene: Scene) -> Tensor:
    """Return row 0 of the unit matrix, for each row of the batch."""
    r = scene.like.new_zeros(scene.rows, scene.tokens)
    r[:, 0] = 1.0
    return r


def _word(preset: Preset) -> str:
    return "" if preset.name == "Standard" else f"{preset.name} "
