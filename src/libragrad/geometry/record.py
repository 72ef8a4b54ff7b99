"""One run of a model, written down: which module was called on what, which tensor came of which.

Tensors are known by the memory they stand in, so that views, reshapes and identities are one node,
and an operation that changes its argument makes the same memory a new node. Only what depends on
the explained input is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from libragrad.engine.inputs import Inputs
from libragrad.engine.naming import spelling_of
from libragrad.geometry.geometry import Point
from libragrad.geometry.quiet import hooked
from libragrad.rules.call import tensors_in

Shape = tuple[int, ...]

_EMBEDDINGS = frozenset({"embedding", "getitem", "index_select", "gather", "one_hot"})
_COPIES = frozenset({"clone", "to", "long", "int", "contiguous", "reshape", "cat"})


class Operand(NamedTuple):
    """A tensor that an operation reads: its node, or None if it is constant, and its shape."""

    node: int | None
    shape: Shape


class Operation(NamedTuple):
    """An operation on tensors that depend on the input."""

    name: str
    operands: tuple[Operand, ...]
    node: int
    """What it made: a new node, or its argument's for a view."""
    shape: Shape
    call: int
    """The innermost module call around it."""


@dataclass
class Call:
    """One call of a module."""

    point: Point
    module: nn.Module
    parent: int
    """The call around it, −1 for the model's own."""
    entered: int
    """How many nodes there were when it was entered."""
    source: int | None
    """The node of its first tensor argument, if that depends on the input."""
    shape: Shape
    """The shape of its first tensor argument."""
    result: int | None = None
    """The node of the first tensor of its output."""
    made: Shape = ()
    """The shape of that tensor."""


@dataclass
class Record:
    """All module calls and operations of one run, in their order."""

    calls: list[Call] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    parents: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    """For each node, those it was made of; node 0 is the input."""
    overwritten: set[int] = field(default_factory=set)
    """Nodes whose memory was changed in place later on."""
    output: int = 0
    """The node of the model's answer; 0 if it does not depend on the input."""


def record(model: nn.Module, inputs: Inputs, source: Tensor) -> Record:
    """Run the model and write down what depends on `source`, one of its inputs."""
    writer = Writer(model, source)
    output = writer.run(inputs)
    written = writer.record
    said = answer(x for x in tensors_in(output) if writer.node_of(x))
    if said is not None:
        written.output = writer.node_of(said) or 0
    return written


def answer(outputs: Iterable[Tensor]) -> Tensor | None:
    """Return what a model says of one example: the first vector of its outputs, else the first.

    A tower that returns all its tokens, and what it pooled of them, is asked for the latter.
    """
    floating = [x for x in outputs if x.dtype.is_floating_point]
    vectors = [x for x in floating if x.ndim == 2 and x.shape[0] == 1]
    return next(iter([*vectors, *floating]), None)


class Writer(TorchFunctionMode):
    """Writes the record while a model runs; what `passed` returns goes on in the model."""

    def __init__(self, model: nn.Module, source: Tensor) -> None:
        super().__init__()
        self.model = model
        self.record = Record()
        self.paths = {id(module): path for path, module in model.named_modules()}
        self.counts: dict[int, int] = {}
        self.open: list[tuple[int, int]] = []
        self.seen = 0
        constants = [*model.parameters(), *model.buffers()]
        self.nodes: dict[int, int | None] = dict.fromkeys(map(_memory, constants))
        self.ids: set[int] = set()
        if source.dtype.is_floating_point:
            self.nodes[_memory(source)] = 0
        else:
            self.ids.add(_memory(source))

    def run(self, inputs: Inputs) -> Any:
        """Run the model and return its output."""
        with hooked(list(self.model.modules()), self.enter, self.leave), self:
            return inputs.call(self.model)

    def passed(self, output: Any, node: int | None) -> Any:
        """See what an operation returns, and the node that it made, if it made one."""
        return output

    def node_of(self, x: Tensor) -> int | None:
        """Return the node of a tensor, None for constants."""
        return self.nodes.get(_memory(x)) if x.dtype.is_floating_point else None

    def follow(self, x: Tensor, node: int) -> None:
        """Know a tensor as a node from now on."""
        self.nodes[_memory(x)] = node

    def enter(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note that a module is called."""
        count = self.counts.get(id(module), 0)
        self.counts[id(module)] = count + 1
        with torch._C.DisableTorchFunction():
            first = next(tensors_in((args, kwargs)), None)
            node, shape = (None, ()) if first is None else (self.node_of(first), first.shape)
        point, parent = Point(self.paths[id(module)], count), self._innermost()
        call = Call(point, module, parent, len(self.record.parents), node, tuple(shape))
        self.open.append((len(self.record.calls), self.seen))
        self.record.calls.append(call)

    def leave(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> None:
        """Note what a module returns."""
        index, seen = self.open.pop()
        with torch._C.DisableTorchFunction():
            result = next((x for x in tensors_in(output) if x.dtype.is_floating_point), None)
            if result is None:
                return
            if seen == self.seen and _memory(result) not in self.nodes:
                # The module hides its operations, so it counts as one.
                self._write(type(module).__name__, list(tensors_in((args, kwargs))), [result], [])
            call = self.record.calls[index]
            call.result, call.made = self.node_of(result), tuple(result.shape)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        given = list(tensors_in((args, kwargs)))
        versions = [x._version for x in given]
        output = func(*args, **kwargs)
        changed = [x for x, version in zip(given, versions, strict=True) if x._version != version]
        made = list(tensors_in(output))
        if made or changed:
            fresh = self._write(spelling_of(func).name, given, made, changed)
            return self.passed(output, fresh)
        return output

    def _innermost(self) -> int:
        return self.open[-1][0] if self.open else -1

    def _write(
        self, name: str, given: list[Tensor], made: list[Tensor], changed: list[Tensor]
    ) -> int | None:
        """Note what an operation made of what it was given; return the node, if it is a new one."""
        self.seen += 1
        operands = tuple(Operand(self.node_of(x), tuple(x.shape)) for x in given)
        parents = tuple(sorted({x.node for x in operands if x.node is not None}))
        if not parents and any(_memory(x) in self.ids for x in given):
            self._follow_ids(name, made)
            return None
        kept = {_memory(x) for x in given} - {_memory(x) for x in changed}
        fresh: int | None = None
        for x in [*made, *changed]:
            memory = _memory(x)
            if not x.dtype.is_floating_point or (memory in kept and memory not in self.nodes):
                continue
            if memory not in kept:
                if parents and fresh is None:
                    fresh = len(self.record.parents)
                    self.record.parents.append(parents)
                before = self.nodes.get(memory)
                if before is not None and before != fresh and any(x is y for y in changed):
                    self.record.overwritten.add(before)
                self.nodes[memory] = fresh
            node = self.nodes[memory]
            if node is not None:
                made_here = Operation(name, operands, node, tuple(x.shape), self._innermost())
                self.record.operations.append(made_here)
        return fresh

    def _follow_ids(self, name: str, made: list[Tensor]) -> None:
        """The first embedding of integer inputs is the input; masks made of them are constant."""
        for x in made:
            if not x.dtype.is_floating_point:
                self.ids |= {_memory(x)} if name in _COPIES and x.dtype != torch.bool else set()
            elif name in _EMBEDDINGS and 0 not in self.nodes.values():
                self.nodes[_memory(x)] = 0
                self.record.operations.append(
                    Operation(name, (), 0, tuple(x.shape), self._innermost())
                )
            else:
                self.nodes[_memory(x)] = None


def _version(x: Tensor) -> int:
    """How often the tensor was changed in place, as far as it counts."""
    return 0 if x.is_inference() else x._version


def _memory(x: Tensor) -> int:
    """Where the tensor's storage begins; what has none is known by itself."""
    if x.layout is not torch.strided or x.numel() == 0:
        return -id(x)
    return x.untyped_storage().data_ptr()
