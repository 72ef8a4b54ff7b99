"""All that `import libragrad` offers, with the engine and PyTorch behind it."""

from libragrad.engine.audit import Audit, Leak, audit
from libragrad.engine.balanced import balanced
from libragrad.errors import (
    GeometryError,
    InputError,
    LibraGradError,
    LibraGradWarning,
    MethodError,
    OpaqueModelError,
    PresetError,
    TargetError,
)
from libragrad.explaining.archive import Saved
from libragrad.explaining.archive import load as load_explanation
from libragrad.explaining.explain import explain
from libragrad.explaining.explainer import Explainer
from libragrad.explaining.explanation import Explanation, Explanations
from libragrad.geometry.discover import discover
from libragrad.methods.decompx_vectors import decompose
from libragrad.methods.method import Method, Profile
from libragrad.methods.table import METHODS
from libragrad.operators import constant, scale, swap_backward, swap_backward_by_duality
from libragrad.paths import Integrated, Point, Smooth
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
from libragrad.targets import Contrast, Contrastive, Output, Predicted, Prompt, PromptModel

__all__ = [
    "ABLATIONS",
    "ALI_LRP",
    "ATTN_LRP",
    "CP_LRP",
    "DECOMPX",
    "LIBRA",
    "METHODS",
    "PRESETS",
    "STANDARD",
    "Audit",
    "Contrast",
    "Contrastive",
    "Explainer",
    "Explanation",
    "Explanations",
    "GeometryError",
    "InputError",
    "Integrated",
    "Leak",
    "LibraGradError",
    "LibraGradWarning",
    "Method",
    "MethodError",
    "OpaqueModelError",
    "Output",
    "Point",
    "Predicted",
    "Preset",
    "PresetError",
    "Profile",
    "Prompt",
    "PromptModel",
    "Saved",
    "Smooth",
    "TargetError",
    "Treatment",
    "audit",
    "balanced",
    "constant",
    "decompose",
    "discover",
    "explain",
    "load_explanation",
    "scale",
    "swap_backward",
    "swap_backward_by_duality",
]
