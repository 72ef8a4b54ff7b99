"""Run a model up to a tensor, with something else in the place of another one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any

from torch import Tensor, nn

from libragrad.engine.inputs import Inputs
from libragrad.geometry.geometry import Point
from libragrad.geometry.quiet import hooked
from libragrad.rules.call import substitute, tensors_in


class _Reached(Exception):
    """The tensor was reached: the rest of the run is of no interest."""

    def __init__(self, h: Tensor) -> None:
        self.h = h


@dataclass(frozen=True)
class Probe:
    """Runs a model up to a point, with something else in the place of one tensor each time."""

    model: nn.Module
    inputs: Inputs
    source: Tensor
    """What is disturbed: an input, or what a module returns."""
    point: Point
    giver: Point | None = None
    """The module that returns it; None for an input."""

    @classmethod
    def behind(cls, model: nn.Module, inputs: Inputs, giver: Point, point: Point) -> Probe:
        """Disturb what a module returns, and look at a later point."""
        leaving = _at(giver, lambda args, kwargs, output: _reach(output))
        with hooked([model.get_submodule(giver.module)], leaving=leaving):
            source = _until(lambda: inputs.call(model), giver)
        return cls(model, inputs, source, point, giver)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the tensor at the point if x is given for the source."""
        entering = _at(self.point, lambda args, kwargs: _reach((args, kwargs)))
        with ExitStack() as stack:
            target = self.model.get_submodule(self.point.module)
            stack.enter_context(hooked([target], entering))
            replaced = {id(self.source): x}
            if self.giver is not None:
                giver = self.model.get_submodule(self.giver.module)
                leaving = _at(self.giver, lambda args, kwargs, output: x.clone())
                stack.enter_context(hooked([giver], leaving=leaving))
            args = substitute(self.inputs.args, replaced)
            kwargs = substitute(self.inputs.kwargs, replaced)
            return _until(lambda: self.model(*args, **kwargs), self.point)


def _at(point: Point, act: Callable[..., Any]) -> Callable[..., Any]:
    """A hook that acts at one of the calls of a module."""
    calls = count()

    def hook(module: nn.Module, *given: Any) -> Any:
        return act(*given) if next(calls) == point.call else None

    return hook


def _reach(tree: Any) -> None:
    raise _Reached(next(tensors_in(tree)))


def _until(run: Callable[[], Any], point: Point) -> Tensor:
    try:
        run()
    except _Reached as reached:
        return reached.h.detach().clone()
    raise RuntimeError(f"{point} was called in one run and not in the next")
