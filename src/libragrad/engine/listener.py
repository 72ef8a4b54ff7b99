"""What may listen to a balanced pass: the account, the audit, attribution methods."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor

from libragrad.engine.places import Place
from libragrad.rules.call import Call


class Listener(Protocol):
    """Hears of each operation in the forward, and of each bias in the backward."""

    traces: bool
    """True if every operation's own share of the gradient is wanted (an audit)."""

    @property
    def counts(self) -> bool:
        """Whether additive constants are wanted."""

    def place(self, operation: str) -> Place:
        """Return where this operation is being called."""

    def operation(self, place: Place, rule: str | None) -> None:
        """Hear that an operation ran under a rule; None: no rule is known."""

    def opaque(self, name: str) -> None:
        """Hear that a tensor came from a region whose operations could not be seen."""

    def made_before(self, x: Tensor) -> bool:
        """Say whether x, which was there before the pass, does not depend on the explained input.

        It then counts as a constant, like a parameter.
        """

    def ran(self, call: Call, result: Any) -> None:
        """Hear what an operation on the explained input was called with, and what the model got."""

    def constants(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any
    ) -> Tensor | None:
        """Hear of an operation on constants; return what stands for its value, if not itself."""

    def entered(self, place: Place, b: Tensor, z: Tensor) -> None:
        """Hear that the additive constant b has entered at z (to which it broadcasts)."""

    def share(self, place: Place, amount: float) -> None:
        """Hear a part of ⟨g_out, out⟩ − Σ⟨g_in, in⟩ of an operation (only if it traces)."""
