"""The contenders that need no peer: the forward itself, Libra, and plain autograd twice."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from benchmarks.contender import Local
from benchmarks.workload import Workload


@dataclass(frozen=True)
class Gradient:
    """A forward within `context(model)`, then the gradient of its score.

    The gradient is that of the input and, with `weights`, of every parameter.
    """

    name: str
    context: Callable[[nn.Module], AbstractContextManager[object]]
    weights: bool = False

    def forward(self, workload: Workload) -> tuple[Tensor, list[Tensor]]:
        """Give y and the leaves whose gradients are wanted."""
        x = workload.leaf()
        with self.context(workload.model):
            logits = workload.model(x)
        leaves = [x, *workload.model.parameters()] if self.weights else [x]
        return workload.score(logits), leaves

    def backward(self, y: Tensor, leaves: list[Tensor]) -> Tensor:
        """Give ∂y/∂x; the other gradients are computed and dropped."""
        return torch.autograd.grad(y, leaves, allow_unused=True)[0]

    def contender(self, workload: Workload) -> Local:
        """Both halves as one call."""
        return Local(self.name, workload, lambda: self.backward(*self.forward(workload)))


@contextmanager
def frozen(model: nn.Module) -> Iterator[None]:
    """Freeze the weights for the forward and give each its flag back."""
    flags = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
    for parameter, _ in flags:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter, flag in flags:
            parameter.requires_grad_(flag)


def _balanced(model: nn.Module) -> AbstractContextManager[object]:
    import libragrad

    context: AbstractContextManager[object] = libragrad.balanced(libragrad.LIBRA)
    return context


LIBRA = Gradient("LibraGrad, input gradient", _balanced)
FROZEN = Gradient("plain autograd, frozen weights", frozen)
WEIGHTS = Gradient("plain autograd, weight gradients", lambda _: nullcontext(), weights=True)


def forward_alone(workload: Workload) -> Local:
    """Run the no-grad forward that everything is a multiple of."""

    def call() -> Tensor:
        with torch.no_grad():
            logits: Tensor = workload.model(workload.x)
        return logits

    return Local("no-grad forward", workload, call)
