"""Baselines of the LRP family, as gradients under presets of their own.

Layer-wise relevance propagation is covered by patents of its authors' institutions; whoever uses
these three commercially should know. They are here to be compared with. LibraGrad is not LRP: it
prunes and scales paths of a gradient, takes input × gradient, and needs none of LRP's rules.
"""

from __future__ import annotations

from libragrad.methods.input_x_grad import InputXGrad
from libragrad.methods.method import Method
from libragrad.presets import ALI_LRP, ATTN_LRP, CP_LRP

ALI = Method(
    key="alilrp",
    title="AliLRP",
    formula="Σ_c h₀ ⊙ ∂y/∂h₀ with attention and σ constant",
    citation="Ali et al., XAI for Transformers (ICML 2022)",
    observer=InputXGrad,
    preset=ALI_LRP,
)

CP = Method(
    key="cplrp",
    title="CP-LRP",
    formula="Σ_c h₀ ⊙ ∂y/∂h₀ with attention, σ and gates constant",
    citation="Ali et al. (ICML 2022); Achtibat et al. (ICML 2024) call it CP-LRP",
    observer=InputXGrad,
    preset=CP_LRP,
)

ATTN = Method(
    key="attnlrp",
    title="AttnLRP",
    formula="Σ_c h₀ ⊙ ∂y/∂h₀ with softmax's gradient and halves of each product",
    citation="Achtibat et al., AttnLRP (ICML 2024), ε → 0",
    observer=InputXGrad,
    preset=ATTN_LRP,
)
