"""Sampling: grid_sample, deformable convolution. Linear in the image; where it looks is a gate."""

from __future__ import annotations

from libragrad.presets import CONSTANT
from libragrad.rules.call import Call, Outcome


def sampled(call: Call) -> Outcome:
    """Sample input[grid]: the grid, like attention's weights, says where the model looked."""
    image = call.named("input")["input"]
    if call.preset.attention is not CONSTANT:
        return Outcome(call.run())
    swaps = {id(x): x.detach() for x in call.live if x is not image}
    return Outcome(call.run_with(swaps))
