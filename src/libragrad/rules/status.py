"""The status of a tensor: what the rules have made of it so far (design, section 2.1).

A tensor that does not require a gradient is *constant*. Of the others:
"""

from collections.abc import Iterable
from enum import Enum

from torch import Tensor

MARK = "_libragrad_status"


class Status(Enum):
    """The state of a tensor that depends on the explained input; the value is its preset row."""

    VALUE = "value"
    """Jointly 1-homogeneous in (input, biases) along its backward: the residual stream."""
    ACTIVATED = "activated value"
    """A value that has just left a gated activation: act(W x) in a gated MLP."""
    WEIGHTS = "attention"
    """Attention weights: softmax's output."""
    SCALE = "normalisation"
    """A denominator or its reciprocal: σ, rsqrt(mean(x²))."""
    GATE = "activation"
    """Any other function of the input that is not itself a value: σ(x), tanh(x), exp(x)."""

    @property
    def gates(self) -> bool:
        """True if a product with a value may prune this tensor."""
        return self in _GATES

    def __str__(self) -> str:
        """Return the name as people read it."""
        return self.name.lower()


_GATES = frozenset({Status.WEIGHTS, Status.SCALE, Status.GATE})


def status_of(x: Tensor) -> Status:
    """Return the status of a tensor that requires a gradient; an unmarked one is a value."""
    return getattr(x, MARK, Status.VALUE)


def mark(x: Tensor, status: Status) -> None:
    """Remember the status of x on x itself, so that it lives exactly as long."""
    setattr(x, MARK, status)


_LEARNT = "_libragrad_learnt"


def learnt(x: Tensor) -> Tensor:
    """Remember of a constant that it is made of parameters that want a gradient outside."""
    if x.dtype.is_floating_point:
        setattr(x, _LEARNT, True)
    return x


def is_learnt(x: Tensor) -> bool:
    """Say whether a constant is made of parameters."""
    return hasattr(x, _LEARNT)


def common(tensors: Iterable[Tensor]) -> Status:
    """Return the one status that all tensors share, else VALUE: a sum of unlike things is a value.

    Every status is complete where a preset is (gates are secants), so this choice never costs
    completeness; it only decides what a later product prunes.
    """
    statuses = set(map(status_of, tensors))
    return statuses.pop() if len(statuses) == 1 else Status.VALUE
