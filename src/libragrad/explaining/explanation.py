"""What comes out: maps that say how much each part of the input gave to the explained output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import torch
from torch import Tensor

from libragrad.errors import InputError
from libragrad.explaining.archive import contents
from libragrad.explaining.drawn import Drawn
from libragrad.explaining.settings import Origin, Settings
from libragrad.geometry.layout import Layout


@dataclass(frozen=True)
class Explanation(Drawn):
    """One method's maps of a batch of B inputs, with their account.

    For a complete method under a complete preset

        output = Σ map + unattributed + completeness_error,    completeness_error ≈ 0.
    """

    map: Tensor
    """Signed attributions by patch (or pixel), (B, H, W); for text (B, 1, N)."""
    tokens: Tensor
    """The same for all tokens, (B, N): CLS and other prefix tokens first, then the map."""
    unattributed: Tensor
    """What belongs to the output but has no place on the map, (B,): prefix tokens, head biases."""
    output: Tensor
    """The explained scalars y, (B,)."""
    completeness_error: Tensor
    """y less what the account behind the map explains, (B,); NaN for methods that claim none.

    For Input×Grad and FullGrad that account is the map and `unattributed`. FullGrad+ counts the
    input part once a layer; its account is the FullGrad that it is made of.

    For a probability, y is its linear part ⟨∂p/∂z, z⟩ in the logits z; for an integrated path it is
    counted against the baseline, y(x) − y(x′).
    """
    labels: tuple[str, ...]
    """The target of each input, as people read it."""
    target: Tensor | None
    """The class index of each input, (B,), if the target is a class."""
    layout: Layout
    settings: Settings
    origin: Origin
    pictures: Tensor | None = None
    """What the model saw, (B, 3, H′, W′) in [0, 1], if it was given or could be told."""

    @property
    def name(self) -> str:
        """The method as people read it: "Libra FullGrad+"."""
        return self.settings.name

    @property
    def completeness(self) -> Tensor:
        """|completeness_error| / |output|, (B,): 3e−7 means that the map accounts for all of y."""
        return self.completeness_error.abs() / self.output.abs().clamp_min(1e-300)

    def drawn(self) -> Sequence[Explanation]:
        """One method."""
        return [self]

    def _numbers(self) -> dict[str, Any]:
        return {".npz": lambda: contents(self)}

    def __len__(self) -> int:
        """Return the number of inputs."""
        return len(self.tokens)

    def one(self, index: int) -> Explanation:
        """Return the explanation of one input of the batch."""
        i = range(len(self))[index]
        part = slice(i, i + 1)
        return replace(
            self,
            map=self.map[part],
            tokens=self.tokens[part],
            unattributed=self.unattributed[part],
            output=self.output[part],
            completeness_error=self.completeness_error[part],
            labels=self.labels[part],
            target=None if self.target is None else self.target[part],
            pictures=None if self.pictures is None else self.pictures[part],
        )

    def __str__(self) -> str:
        """Return a line for each input."""
        lines = [f"{self.name} of {self.origin.model}"]
        for i, label in enumerate(self.labels):
            error = float(self.completeness_error[i])
            account = "" if error != error else f", error {error:.1e}"  # NaN: no claim
            y, on, off = self.output[i], self.map[i].sum(), self.unattributed[i]
            lines.append(
                f"  {label}: output {float(y):.4g} = map {float(on):.4g} "
                f"+ unattributed {float(off):.4g}{account}"
            )
        return "\n".join(lines)


@dataclass(frozen=True)
class Explanations(Drawn, Sequence[Explanation]):
    """Several methods or targets of one call, in the order in which they were asked for."""

    items: tuple[Explanation, ...]

    @overload
    def __getitem__(self, key: int) -> Explanation: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Explanation]: ...
    @overload
    def __getitem__(self, key: str) -> Explanation: ...
    @overload
    def __getitem__(self, key: tuple[str, str]) -> Explanation: ...
    def __getitem__(self, key: Any) -> Any:
        """Return by number, by method or by (method, label).

        A method goes by its key, its title or its whole name: "fullgrad+", "FullGrad+", "Libra
        FullGrad+".
        """
        if isinstance(key, (int, slice)):
            return self.items[key]
        method, label = (key, None) if isinstance(key, str) else key
        found = [
            item
            for item in self.items
            if method in (item.settings.method.key, item.settings.method.title, item.name)
            and (label is None or item.labels[0] == label)
        ]
        if len(found) == 1:
            return found[0]
        known = ", ".join(f"({item.name!r}, {item.labels[0]!r})" for item in self.items)
        what = "none of the explanations is" if not found else f"{len(found)} explanations are"
        raise InputError(f"{what} {key!r}; there are {known}")

    def drawn(self) -> Sequence[Explanation]:
        """Return an explanation a method, with the targets of each input beside each other."""
        groups: dict[str, list[Explanation]] = {}
        for item in self.items:
            groups.setdefault(item.name, []).append(item)
        return [joined(group) for group in groups.values()]

    def __len__(self) -> int:
        """Return how many explanations there are."""
        return len(self.items)

    def __iter__(self) -> Iterator[Explanation]:
        """Yield them in order."""
        return iter(self.items)

    def __str__(self) -> str:
        """Return them below each other."""
        return "\n".join(map(str, self.items))


def joined(parts: Sequence[Explanation]) -> Explanation:
    """Put the explanations of parts of a batch together again."""
    first = parts[0]
    if len(parts) == 1:
        return first

    def cat(name: str) -> Tensor:
        return torch.cat([getattr(part, name) for part in parts])

    return replace(
        first,
        map=cat("map"),
        tokens=cat("tokens"),
        unattributed=cat("unattributed"),
        output=cat("output"),
        completeness_error=cat("completeness_error"),
        labels=tuple(label for part in parts for label in part.labels),
        target=None if first.target is None else cat("target"),
        pictures=None if first.pictures is None else cat("pictures"),
    )
