"""Masking: what a model says of an image of which only some patches are there.

    model = masker(model, images)                  a trial decides how; print(model) says it
    model.predict(images, keep)                    logits from the patches `keep` alone
    delete(model, images, {"name": attribution})   deletion curves, MIF and LIF

By default masked patches leave the sequence at h₀ ("True Token Masking"), which is exact for
absolute, rotary and relative positions alike. `MASKS` has the other ways.
"""

from libragrad.masking.curves import BOTH, Curve, curve_cost, delete
from libragrad.masking.kinds import MASKS, Mask, find_mask
from libragrad.masking.masker import Masker, Unmasked, masker
from libragrad.masking.minus_infinity import MinusInfinity

__all__ = [
    "BOTH",
    "MASKS",
    "Curve",
    "Mask",
    "Masker",
    "MinusInfinity",
    "Unmasked",
    "curve_cost",
    "delete",
    "find_mask",
    "masker",
]
