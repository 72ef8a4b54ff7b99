"""What a rule sees of one operation (`Call`) and what it answers (`Outcome`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from libragrad.presets import Preset
from libragrad.rules.status import Status, is_learnt

Tensors: TypeAlias = Any
"""What an operation returns: a tensor, or a (named) tuple or list of tensors."""


Given: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments and keyword arguments."""


@dataclass(slots=True)
class Call:
    """One operation that the model asked for, with its parameters already made constant."""

    name: str
    """The operation, without dress: `add` for torch.add, Tensor.__iadd__ and aten::add_ alike."""
    native: Callable[..., Tensors]
    """PyTorch's own function; it never changes its arguments (in-place ones work on a copy)."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    preset: Preset
    live: list[Tensor]
    """The tensors among the arguments that depend on the explained input."""
    mode: Callable[[], AbstractContextManager[Any]] = field(default=torch.enable_grad)
    """Puts the same preset on whatever a rule computes inside it."""
    in_place: bool = False
    """True if the model asked for the result in place of the first argument."""
    given: Given | None = None
    """The arguments as the model gave them, of an operation whose value depends on their flags."""

    def run(self) -> Tensors:
        """Run the operation as PyTorch does, with PyTorch's own gradient."""
        return self.native(*self.args, **self.kwargs)

    def run_with(self, replacements: dict[int, Tensor]) -> Tensors:
        """Run the operation with some tensors, known by id, replaced."""
        args, kwargs = substitute((self.args, self.kwargs), replacements)
        return self.native(*args, **kwargs)

    def pruned(self) -> Tensors:
        """Run the operation on constants: the result is a constant too."""
        return self.run_with({id(x): x.detach() for x in self.live})

    def as_given(self) -> Tensors:
        """Run the operation for its value alone, on the model's own parameters."""
        return run_as_given(self.native, self.given or (self.args, self.kwargs))

    @property
    def on_parameters(self) -> bool:
        """True if an argument is a parameter of the model, or made of parameters."""
        return any(isinstance(x, nn.Parameter) or is_learnt(x) for x in tensors_in(self.given))

    def named(self, *names: str) -> dict[str, Any]:
        """Return the arguments by name, for an operation with these positional parameters."""
        return {**dict(zip(names, self.args, strict=False)), **self.kwargs}


@dataclass(slots=True)
class Outcome:
    """The result of a rule: the operation's value, with the backward that the preset prescribes."""

    value: Tensors
    status: Status = Status.VALUE
    bias: Callable[[], Tensor | None] | None = None
    """Computes the additive constant b that enters at `value`; called only if someone counts."""
    rule: str | None = None
    """The row of the conformance table, where it is finer than the rule's own name."""


Rule: TypeAlias = Callable[[Call], Outcome]


@contextmanager
def graph_of_its_own() -> Iterator[None]:
    """Let a rule differentiate: in its graph no checkpoint around the model takes part."""
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(_itself, _itself):
        yield


def _itself(x: Tensor) -> Tensor:
    return x


def run_as_given(native: Callable[..., Tensors], given: Given) -> Tensors:
    """Run an operation for its value alone, each argument wanting a gradient if it does outside.

    PyTorch folds a batch into a matrix product or not by whether the matrix wants a gradient, even
    where nobody records one, and the last bits differ.
    """
    made = {id(x): x.detach().requires_grad_() for x in tensors_in(given) if is_learnt(x)}
    args, kwargs = substitute(given, made) if made else given
    with torch.no_grad():
        return native(*args, **kwargs)


def tensors_in(tree: Any) -> Iterator[Tensor]:
    """Yield every tensor of nested tuples, lists and dictionaries."""
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            yield from tensors_in(item)
    elif isinstance(tree, dict):
        for item in tree.values():
            yield from tensors_in(item)


def substitute(tree: Any, replacements: dict[int, Tensor]) -> Any:
    """Return the tree with tensors replaced by identity."""
    if isinstance(tree, Tensor):
        return replacements.get(id(tree), tree)
    if isinstance(tree, dict):
        return {key: substitute(item, replacements) for key, item in tree.items()}
    if isinstance(tree, (tuple, list)):
        items = [substitute(item, replacements) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    return tree


def name_of_rule(rule: Rule) -> str:
    """Return a rule's name as tables show it."""
    name: str = inspect.unwrap(rule).__name__
    return name.strip("_").replace("_", " ")
