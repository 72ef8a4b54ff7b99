"""The account of one backward pass: y = Σ input ⊙ ∂y/∂input + Σ_b ⟨b, ∂y/∂z_b⟩ + residual."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from torch import Tensor

from libragrad.engine.places import Place, Places
from libragrad.engine.tokens import Tokens
from libragrad.engine.tracing import descends, dot
from libragrad.rules.call import Call
from libragrad.rules.status import Status, mark


class Account:
    """A listener that keeps the books: biases by place, shares by operation, rules by count."""

    counts = True

    def __init__(
        self, places: Places, leaves: list[Tensor], tokens: list[Tensor], *, traces: bool = True
    ) -> None:
        """Open the books: `leaves` are explained, and the embeddings of the integers `tokens`."""
        self.leaves = list(leaves)
        self.traces = traces
        self.places = places
        self.biases: defaultdict[Place, float] = defaultdict(float)
        self.shares: defaultdict[Place, float] = defaultdict(float)
        self.rules: Counter[str] = Counter()
        self.unknown: list[Place] = []
        self.opaques: list[Place] = []
        self.replays = False
        """True in the backward, in which checkpoints run once more on leaves of their own."""
        self.strangers: dict[Tensor, Place] = {}
        """Leaves that are neither explained nor parameters: tensors of the model's own."""
        self._tokens = Tokens(tokens)

    def place(self, operation: str) -> Place:
        """Ask the frames who is calling."""
        return self.places.here(operation)

    def operation(self, place: Place, rule: str | None) -> None:
        """Count the rule, or note the operation that has none."""
        if rule is not None:
            self.rules[rule] += 1
        elif place not in self.unknown:
            self.unknown.append(place)

    def opaque(self, name: str) -> None:
        """Note a region whose operations could not be seen."""
        place = self.places.here(name)
        if place not in self.opaques:
            self.opaques.append(place)

    def made_before(self, x: Tensor) -> bool:
        """Call what was computed before a constant; note what another thread has computed now."""
        if self.replays:
            return False
        if x.grad_fn is None:
            if not any(x is leaf for leaf in self.leaves):
                self.strangers.setdefault(x, self.places.here("leaf"))
            return False
        if not descends(x, self.leaves):
            return True
        self.opaque(x.grad_fn.name())
        mark(x, Status.VALUE)
        return False

    def ran(self, call: Call, result: Any) -> None:
        """Nothing more to book: rules and shares were heard as the operation ran."""

    def constants(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any
    ) -> Tensor | None:
        """Turn the embedding of the explained tokens into the input of the account."""
        if name != "embedding":
            self._tokens.follow(name, (args, kwargs), value)
            return None
        indices: Tensor = args[0] if args else kwargs["input"]
        if indices not in self._tokens:
            return None
        leaf: Tensor = value.detach().requires_grad_()
        self.leaves.append(leaf)
        passed = leaf * 1  # a model may add positions to it in place, and a leaf would forbid it
        mark(passed, Status.VALUE)
        return passed

    def settle(self) -> None:
        """Book what a leaf of the model's own gave: to the account it is one more constant."""
        for x, place in self.strangers.items():
            if x.grad is not None:
                self.biases[place] += dot(x.grad, x.detach())

    def entered(self, place: Place, b: Tensor, z: Tensor) -> None:
        """Book ⟨g, b⟩ when the gradient g passes by."""

        def hook(g: Tensor | None, b: Tensor = b) -> None:
            if g is None:  # a branch that the output does not use has no gradient at all
                return
            amount = dot(g, b)
            self.biases[place] += amount
            if self.traces:
                self.shares[place] -= amount

        z.register_hook(hook)

    def share(self, place: Place, amount: float) -> None:
        """Book one operation's ⟨g_out, out⟩ or −⟨g_in, in⟩."""
        self.shares[place] += amount
