"""The watch: a listener of the engine that turns one forward and its backwards into events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from libragrad.engine.places import Place
from libragrad.geometry.geometry import Point
from libragrad.geometry.layout import Layout
from libragrad.observation.attention import Attention
from libragrad.observation.events import Bias, Crossing, Event, Scene, Tally
from libragrad.observation.hooks import Entrance
from libragrad.observation.observer import Observer
from libragrad.observation.placing import Placing
from libragrad.observation.stream import Stream
from libragrad.observation.weights import weights_of
from libragrad.observation.whereabouts import chosen, follow, originate
from libragrad.paths.path import Path
from libragrad.rules.call import Call, tensors_in
from libragrad.rules.status import MARK, Status, mark


@dataclass
class Watch:
    """Listens to one forward under a preset, and to each backward that starts from it.

    Nothing of the model is changed: its hooks are taken off as soon as the forward is over.
    """

    scene: Scene
    layers: Sequence[tuple[Point, Layout]]
    """Where h₀ … h_{L−1} enter, and how they lie. The first is the explained level."""
    placing: Placing
    path: Path
    points: Tensor
    """Which points of the path are run; the rows of the batch are (points, pictures)."""
    hears: frozenset[Event]
    keeps: bool = False
    """True if the model later changes some h in place, so that it must be copied."""
    observers: Sequence[Observer] = ()
    """Who hears the present backward."""
    stream: Stream = field(default_factory=Stream)
    """How the residual stream moved in the forward."""
    leaf: Tensor | None = None
    """The explained level, as a leaf whose gradient is wanted."""
    _layer: int = 0
    _count: int = 0
    _entered: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    traces = False

    @property
    def counts(self) -> bool:
        """Whether anyone wants to know of biases."""
        return Event.BIAS in self.hears

    # --- what the engine tells

    def place(self, operation: str) -> Place:
        """Return the operation; where it stands, the layer tells."""
        return Place(operation, "")

    def operation(self, place: Place, rule: str | None) -> None:
        """Rules are the audit's business."""

    def opaque(self, name: str) -> None:
        """Opaque regions are the audit's business."""

    def made_before(self, x: Tensor) -> bool:
        """Whatever wants a gradient keeps it."""
        return False

    def share(self, place: Place, amount: float) -> None:
        """Leaks are the audit's business."""

    def entered(self, place: Place, b: Tensor, z: Tensor) -> None:
        """Remember a bias until it is known where it stands."""
        self._entered.append((b, z))

    def constants(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any
    ) -> Tensor | None:
        """Remember that what is made of constant attention weights is attention weights."""
        if Event.ATTENTION in self.hears and isinstance(value, Tensor):
            given = tensors_in((args, kwargs))
            if any(getattr(x, MARK, None) is Status.WEIGHTS for x in given):
                mark(value, Status.WEIGHTS)
        return None

    def ran(self, call: Call, result: Any) -> None:
        """Hook biases and attention, and follow the residual stream."""
        if self.counts:
            if not self.placing.complete:
                follow(call, result, self.layers[self._layer][1].count)
                self.placing.lasts = self.placing.lasts and not chosen(call)
            while self._entered:
                self._hook_bias(*self._entered.pop(), result)
        if Event.ATTENTION in self.hears and isinstance(result, Tensor) and result.requires_grad:
            weights = weights_of(call, self.scene.rows)
            if weights is not None:
                self._hook_attention(weights, result)
        if Event.STREAM in self.hears:
            self.stream.follow(call, result)

    def _hook_bias(self, b: Tensor, z: Tensor, result: Any) -> None:
        layer, count = self._layer, self._count
        self._count += 1
        known = result if isinstance(result, Tensor) else z
        reduce = self.placing.reduce(count, z, known, self.layers[layer][1])

        def hook(g: Tensor | None) -> None:
            if g is None:
                return
            tokens, rest = reduce(b, g)
            event = Bias(layer, tokens.to(self.scene.like), rest.to(self.scene.like))
            self._tell(Event.BIAS, lambda observer: observer.bias(event))

        z.register_hook(hook)

    def _hook_attention(self, weights: Any, result: Tensor) -> None:
        layer = self._layer
        order = self.layers[layer][1].order

        def hook(g: Tensor | None) -> None:
            if g is not None:
                event = Attention(layer, weights, g, order)
                self._tell(Event.ATTENTION, lambda observer: observer.attention(event))

        result.register_hook(hook)

    # --- what the model's modules tell

    @contextmanager
    def hooked(self, model: nn.Module) -> Iterator[None]:
        """Put a hook where each layer begins, for one forward on this thread."""
        modules, handles = dict(model.named_modules()), []
        try:
            for layer, (point, _) in enumerate(self.layers):
                entrance = Entrance(layer, point.call, self._enter)
                module = modules[point.module]
                handles.append(module.register_forward_pre_hook(entrance, with_kwargs=True))
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _enter(self, layer: int, h: Tensor) -> Tensor | None:
        """Hear tokens enter a layer; at the explained level they become a leaf."""
        passed = None
        if layer == 0 and self.leaf is None:
            h = self.start(h)
            passed = h
        self._layer = layer
        if h.requires_grad:
            self._meet(layer, h)
        return passed

    def start(self, h: Tensor) -> Tensor:
        """Make the explained level a leaf, moved along the path."""
        points = len(self.points)
        pictures = h.detach().unflatten(0, (points, -1))[0]
        moved = self.path.at(pictures, self.points)
        self.leaf = moved.flatten(0, 1).to(h.dtype).requires_grad_()
        return self.leaf * 1  # a model may go on in place, which a leaf would forbid

    def _meet(self, layer: int, h: Tensor) -> None:
        layout = self.layers[layer][1]
        if self.counts and not self.placing.complete:
            originate(h, layout)
        value = h.detach().clone() if self.keeps else h.detach()
        if Event.STREAM in self.hears:
            self.stream.enter(layer, h, layout)
        if Event.CROSSING not in self.hears:
            return

        def hook(g: Tensor | None) -> None:
            if g is not None:
                event = self._crossing(layer, layout, value, g)
                self._tell(Event.CROSSING, lambda observer: observer.crossing(event))

        h.register_hook(hook)

    def _crossing(self, layer: int, layout: Layout, h: Tensor, g: Tensor) -> Crossing:
        h, g = layout.tokens(h), layout.tokens(g)
        step = self.path.velocity(h.unflatten(0, (len(self.points), -1)), self.points)

        def place(values: Tensor) -> Tally:
            tokens, rest = self.placing.onto(values, layout)
            return tokens.to(self.scene.like), rest.to(self.scene.like)

        return Crossing(layer, h, g, step.flatten(0, 1), place)

    def _tell(self, event: Event, tell: Callable[[Observer], None]) -> None:
        with torch._C.DisableTorchFunction():
            for observer in self.observers:
                if event in observer.hears:
                    tell(observer)
