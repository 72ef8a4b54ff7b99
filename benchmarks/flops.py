"""The limit that arithmetic sets: what a balanced backward pass must at least compute."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.workload import Workload

_FUSED = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu


@dataclass(frozen=True)
class Flops:
    """Floating-point operations of one forward."""

    linear: int
    attention: int

    @property
    def limit(self) -> float:
        """Forward + input gradients of the linear layers + half of attention, per forward.

        limit = (L + A + L + A/2) / (L + A)

        >>> Flops(linear=8, attention=2).limit
        1.9
        """
        forward = self.linear + self.attention
        return (forward + self.linear + self.attention / 2) / forward


def _fused_attention(
    query: Sequence[int],
    key: Sequence[int],
    value: Sequence[int],
    dropout: float = 0.0,
    is_causal: bool = False,
    *args: Any,
    **kwargs: Any,
) -> int:
    """2·N·M·(d + d') multiply-adds a head; a causal kernel skips half of them."""
    batch, heads, rows, width = query
    full = 2 * batch * heads * rows * key[-2] * (width + value[-1])
    return full // 2 if is_causal else full


def count(workload: Workload) -> Flops:
    """Count one forward: matrix products and convolutions, and fused attention apart."""
    counter = FlopCounterMode(display=False, custom_mapping={_FUSED: _fused_attention})
    with torch.no_grad(), counter:
        workload.model(workload.x)
    by_operation = counter.get_flop_counts()["Global"]
    attention = by_operation.get(_FUSED, 0)
    return Flops(sum(by_operation.values()) - attention, attention)
