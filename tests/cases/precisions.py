"""Operations that change the type of a tensor, and what PyTorch deprecates."""

from __future__ import annotations

import warnings

import torch.nn.functional as F
from torch import Tensor

from tests.cases.shorthand import IMAGE, own


def enlarged(x: Tensor) -> Tensor:
    with warnings.catch_warnings():  # PyTorch deprecates it
        warnings.simplefilter("ignore")
        return F.upsample(x, scale_factor=2)


CASES = [
    own("float", lambda x: x.float().double(), tolerance=1e-6),
    own("half", lambda x: x.half().double(), tolerance=1e-2),
    own("bfloat16", lambda x: x.bfloat16().double(), tolerance=1e-1),
    own("interpolate", enlarged, IMAGE, note="by its old name"),
]
