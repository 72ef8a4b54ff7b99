"""What a forward holds for its backward, the peak of both, and the largest tensor on the way."""

import gc
from dataclasses import dataclass

from benchmarks.allocations import watched
from benchmarks.gradients import FROZEN, LIBRA, WEIGHTS, Gradient
from benchmarks.largest import LargestTensor
from benchmarks.workload import Workload


@dataclass(frozen=True)
class Memory:
    """One contender on one workload; bytes as PyTorch's allocator counts them."""

    key: str
    title: str
    name: str
    held: int
    peak: int
    largest: int
    numel: int
    operation: str
    square: int

    @property
    def is_linear(self) -> bool:
        """Whether nothing of N×N entries was made, by any operation or inside any kernel.

        The allocator's largest block is compared as if an entry were a single byte.
        """
        return self.numel < self.square and self.largest < self.square


def measure(workload: Workload) -> list[Memory]:
    """Measure the three gradients on one workload."""
    return [_measure(gradient, workload) for gradient in (LIBRA, FROZEN, WEIGHTS)]


def _measure(gradient: Gradient, workload: Workload) -> Memory:
    with LargestTensor() as seen:
        gradient.backward(*gradient.forward(workload))
    gc.collect()
    with watched() as ahead:
        kept = gradient.forward(workload)
    del kept
    gc.collect()
    with watched() as both:
        gradient.backward(*gradient.forward(workload))
    return Memory(
        workload.key,
        workload.title,
        gradient.name,
        ahead.held,
        both.peak,
        both.largest,
        seen.numel,
        seen.operation,
        workload.tokens**2,
    )
