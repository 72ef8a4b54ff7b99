"""zennit's EpsilonPlus composite, registered and removed around each call."""

import torch
from torch import Tensor
from zennit.attribution import Gradient
from zennit.composites import EpsilonPlus

from benchmarks.contender import Contender, Local, Unavailable
from benchmarks.workload import Workload


def epsilon_plus(name: str, workload: Workload) -> Contender:
    """Run its rules for linear and convolution layers; what it has no rule for stays plain."""
    if workload.tokens > 4096:
        raise Unavailable("left out at this length")

    def first_logit(logits: Tensor) -> Tensor:
        start = torch.zeros_like(logits)
        start[:, 0] = 1
        return start

    def call() -> Tensor:
        with Gradient(workload.model, EpsilonPlus(), first_logit) as attributor:
            _, relevance = attributor(workload.leaf())
        heat: Tensor = relevance
        return heat

    return Local(name, workload, call, note="no rules for attention and normalisation")
