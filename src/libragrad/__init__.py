"""LibraGrad: why a transformer answered as it did, in explanations that add up."""

from importlib.metadata import PackageNotFoundError, version

from libragrad.engine.audit import Audit, Leak, audit
from libragrad.engine.balanced import balanced
from libragrad.errors import (
    GeometryError,
    InputError,
    LibraGradError,
    LibraGradWarning,
    OpaqueModelError,
    PresetError,
    TargetError,
)
from libragrad.operators import constant, scale, swap_backward, swap_backward_by_duality
from libragrad.presets import (
    ABLATIONS,
    ALI_LRP,
    ATTN_LRP,
    CP_LRP,
    DECOMPX,
    LIBRA,
    PRESETS,
    STANDARD,
    Preset,
    Treatment,
)

try:
    __version__ = version("libragrad")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0.1.0"

__all__ = [
    "ABLATIONS",
    "ALI_LRP",
    "ATTN_LRP",
    "CP_LRP",
    "DECOMPX",
    "LIBRA",
    "PRESETS",
    "STANDARD",
    "Audit",
    "GeometryError",
    "InputError",
    "Leak",
    "LibraGradError",
    "LibraGradWarning",
    "OpaqueModelError",
    "Preset",
    "PresetError",
    "TargetError",
    "Treatment",
    "__version__",
    "audit",
    "balanced",
    "constant",
    "scale",
    "swap_backward",
    "swap_backward_by_duality",
]
