"""The trunk of a run: the tensors through which everything passes, and the residual steps between.

Where h_{l+1} = h_l + f(h_l), everything that goes from the input to the output passes through h_l
and h_{l+1}, and through nothing in between, because the skip leads past it. So the residual stream
of any model shows in the graph of its run, whatever its modules are called and however they nest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from libragrad.geometry.record import Call, Operation, Record

_ADDITIONS = frozenset("add addcmul addmm baddbmm lerp".split())


class Step(NamedTuple):
    """A residual step, from one tensor of the trunk to the next: h → h + f(h)."""

    start: int
    end: int
    first: int
    """The first node between them."""


@dataclass(frozen=True)
class Trunk:
    """Nodes that all paths pass, in order, and the residual steps among them."""

    nodes: frozenset[int]
    steps: tuple[Step, ...]

    def carries(self, call: Call) -> bool:
        """Say whether a module takes the trunk from one of its tensors to a later one."""
        return call.source in self.nodes and call.result in self.nodes and call.source < call.result

    def inside(self, call: Call) -> list[Step]:
        """Return the residual steps that a call takes, all of whose work is done in it."""
        if not self.carries(call) or call.source is None or call.result is None:
            return []
        return [
            step
            for step in self.steps
            if call.source <= step.start and step.end <= call.result and step.first >= call.entered
        ]


def trunk_of(record: Record) -> Trunk:
    """Find the nodes that no edge leads past: v such that no edge (u, w) has u < v < w."""
    path = used(record)
    makers: dict[int, Operation] = {}
    for operation in record.operations:
        makers.setdefault(operation.node, operation)
    leads: dict[int, int] = {}
    for node in path:
        for parent in record.parents[node]:
            leads[parent] = max(leads.get(parent, 0), node)
    nodes: list[int] = []
    steps: list[Step] = []
    reach, between = 0, 0
    for node in path:
        if reach <= node:
            if nodes and between and _adds(makers.get(node)):
                steps.append(Step(nodes[-1], node, between))
            nodes.append(node)
            between = 0
        else:
            between = between or node
        reach = max(reach, leads.get(node, 0))
    return Trunk(frozenset(nodes), tuple(steps))


def used(record: Record) -> list[int]:
    """Return the nodes on some path from the input to the output, as they were made."""
    needed = {record.output}
    for node in range(record.output, -1, -1):
        if node in needed:
            needed.update(record.parents[node])
    return sorted(needed)


def _adds(operation: Operation | None) -> bool:
    """Say whether two tensors that depend on the input were added; vectors and logits are none."""
    if operation is None or operation.name not in _ADDITIONS:
        return False
    terms = {operand.node for operand in operation.operands} - {None}
    positions = 1
    for n in sorted(operation.shape)[:-1]:
        positions *= n
    return len(terms) > 1 and len(operation.shape) > 2 and positions > 1
