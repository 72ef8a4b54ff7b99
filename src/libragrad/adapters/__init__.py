"""The shapes that other packages expect, so that what people already run keeps running.

`LibraAttribution` for Captum, `explain_func` for Quantus, `LibraCAM` for pytorch-grad-cam. None of
these packages is needed, and all that `libragrad.explain` takes is taken here too.
"""

from libragrad.adapters.captum import LibraAttribution
from libragrad.adapters.grad_cam import LibraCAM
from libragrad.adapters.quantus import explain_func

__all__ = ["LibraAttribution", "LibraCAM", "explain_func"]
