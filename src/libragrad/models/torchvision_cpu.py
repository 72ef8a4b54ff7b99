"""Make torchvision importable beside a PyTorch that its compiled library was not built for.

The torchvision of the package registry is compiled against a CUDA build of PyTorch. Beside a CPU
build its library does not load, so the operators `nms` and `qnms` are never defined, and
`import torchvision` (hence timm and open_clip) ends in
``RuntimeError: operator torchvision::nms does not exist``. Nothing in a classifier calls them;
declaring their schemas is all that the import asks for.
"""

from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec

import torch
from torch.library import Library

_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


@cache
def declare_missing_operators() -> Library | None:
    """Declare `torchvision::nms` and `torchvision::qnms` where torchvision cannot do so itself.

    Call it before the first import of torchvision, timm or open_clip. It changes nothing where
    torchvision is absent or its own compiled library loads. The declarations live as long as the
    returned library, which this function keeps. The two operators are declared only: calling one
    says that it has no kernel.

    >>> _ = declare_missing_operators()
    >>> import torchvision
    """
    spec = find_spec("torchvision")
    if (
        spec is None
        or hasattr(torch.ops.torchvision, "nms")
        or _loads_its_operators(spec.submodule_search_locations)
    ):
        return None
    library = Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(name + _SCHEMA)
    return library


def _loads_its_operators(package: list[str] | None) -> bool:
    compiled = PathFinder.find_spec("_C", package)
    if compiled is None or compiled.origin is None:
        return False
    try:
        torch.ops.load_library(compiled.origin)
    except OSError:
        return False
    return True
