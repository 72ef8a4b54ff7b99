"""DecompX by gradients: Input×Grad of the network linearised with constant attention and gates.

DecompX carries a vector for each pair of tokens through the network. Where every operation is
linear in the tokens once attention, σ and gates are constant, the part of y that it gives to token
t is Σ_c h₀[t, c] ∂y/∂h₀[t, c] under the preset DECOMPX. The vectors themselves: decompx_vectors.py.
"""

from __future__ import annotations

from libragrad.methods.input_x_grad import InputXGrad
from libragrad.methods.method import Method
from libragrad.presets import DECOMPX as PRESET

DECOMPX = Method(
    key="decompx",
    title="DecompX",
    formula="Σ_c h₀ ⊙ ∂y/∂h₀ under the preset DecompX",
    citation="Modarressi et al., DecompX (ACL 2023)",
    observer=InputXGrad,
    preset=PRESET,
)
