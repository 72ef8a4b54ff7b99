"""The pictures of the theory pages, drawn with the library itself.

    python -m docs.figures

All pictures of rules are of one kind. An operation f is run along the ray t·x from zero to the
input: y(t) = f(t x). A backward pass gives one slope at t = 1, ⟨g, x⟩, and with it one line through
(1, y). Where the line meets t = 0 is what the input does not account for. The gradient is complete
if it meets the axis at the sum of the bias terms, which is drawn as a dot.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import libragrad
from libragrad import LIBRA, PRESETS, STANDARD, Preset
from libragrad.models import mosaic

FOLDER = Path(__file__).parent / "images" / "theory"
INK, PLAIN, BALANCED, DOT = "#333333", "#c8553d", "#2a6f97", "#111111"
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "libragrad",
    "svg.fonttype": "path",
    "figure.facecolor": "white",
}

BARE: Any = dict.fromkeys(("Date", "Creator", "Format", "Type"))
"""No metadata, so that the same picture is the same file."""

Function = Callable[[Tensor], Tensor]


class _Function(nn.Module):
    def __init__(self, f: Function) -> None:
        super().__init__()
        self.f = f

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x)[None, None]


def slope(f: Function, x: Tensor, preset: Preset) -> tuple[float, float]:
    """Return ⟨g, x⟩ and the sum of the bias terms, from the audit of f at x."""
    account = libragrad.audit(_Function(lambda h: f(h[0])), x[None], lambda y: y[:, 0], preset)
    return account.inputs, sum(account.biases.values())


def ray(name: str, title: str, f: Function, x: Tensor, plain: Preset = STANDARD) -> None:
    """Draw f along the ray to x, with the lines of the plain and the balanced gradient."""
    t = torch.linspace(0, 1.4, 281, dtype=x.dtype)
    y = [float(f(a * x).detach()) for a in t]
    at_one = float(f(x).detach())
    figure, axes = plt.subplots(figsize=(4.6, 2.9))
    axes.plot(t, y, color=INK, lw=2.2, label=title)
    for preset, colour, style, words in (
        (plain, PLAIN, (0, (4, 2)), "plain gradient"),
        (LIBRA, BALANCED, "-", "LibraGrad"),
    ):
        inputs, biases = slope(f, x, preset)
        axes.plot(t, at_one + inputs * (t - 1), color=colour, lw=1.4, ls=style, label=words)
        if preset is LIBRA:
            axes.plot([0], [biases], "o", color=DOT, ms=5, zorder=5, clip_on=False, label="Σ bias")
    axes.plot([1], [at_one], "o", color=INK, ms=4)
    axes.axhline(0, color="#bbbbbb", lw=0.6, zorder=0)
    axes.set(xlabel="t   (input t·x)", ylabel="y(t)", xlim=(0, 1.4), xticks=[0, 0.5, 1])
    _save(figure, axes, name)


def _save(figure: Any, axes: Any, name: str) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    figure.savefig(FOLDER / f"{name}.svg", bbox_inches="tight", metadata=BARE)
    plt.close(figure)


def rules() -> None:
    """Draw a picture for each kind of rule."""
    one = torch.tensor([1.0], dtype=torch.float64)
    two = torch.tensor([1.0, 0.8], dtype=torch.float64)
    four = torch.tensor([1.2, -0.4, 0.3, 0.9], dtype=torch.float64)
    gamma = torch.tensor([1.0, 0.5, -0.3, 0.8], dtype=torch.float64)
    beta = torch.tensor([0.3, 0.2, 0.1, 0.2], dtype=torch.float64)
    ray("affine", "f = 1.5 x + 0.5", lambda x: (1.5 * x + 0.5).sum(), one)
    ray("homogeneous", "f = ReLU(x₁) + max(x)", lambda x: (x.relu() + x.amax()).sum(), two)
    ray("clamp", "f = clamp(x, max=0.6)", lambda x: x.clamp(max=0.6).sum(), one)
    ray("products", "f = x₁ · x₂", lambda x: x[0] * x[1], two)
    ray("gates", "f = x₁ · σ(3 x₂)", lambda x: x[0] * (3 * x[1]).sigmoid(), two)
    ray("division", "f = x₁ / (0.2 + x₂)", lambda x: x[0] / (0.2 + x[1]), two)
    ray(
        "normalisation",
        "f = Σ LayerNorm(x)",
        lambda x: F.layer_norm(x, (4,), gamma, beta, 1e-3).sum(),
        four,
    )
    ray("attention", "f = attention of 3 tokens", _attention, two)
    ray("activations", "f = GELU(x)", lambda x: F.gelu(x).sum(), one)
    ray("secants", "f = σ(3 x)", lambda x: (3 * x).sigmoid().sum(), one)


def _attention(x: Tensor) -> Tensor:
    """Three tokens, multiples of x; the first one's query reads them all."""
    scale = torch.tensor([[1.0], [-0.8], [1.6]], dtype=x.dtype)
    tokens = (scale * x)[None, None]
    return F.scaled_dot_product_attention(tokens, 2 * tokens, tokens)[0, 0, 0].sum()


def presets() -> None:
    """Draw how much of a logit each preset leaves unexplained, on the built-in model."""
    model, data = mosaic.load().double(), mosaic.mosaic_images()
    pictures = mosaic.preprocess(data.images[:16]).double()
    chosen = [*PRESETS.values(), *(LIBRA.without(row) for row in ("attention", "normalisation"))]
    chosen.append(LIBRA.without("activation"))
    errors = [_relative_error(model, pictures, preset) for preset in chosen]
    figure, axes = plt.subplots(figsize=(5.6, 3.1))
    rows = np.arange(len(chosen))
    axes.hlines(rows, 1e-16, errors, color="#cccccc", lw=1)
    axes.plot(errors, rows, "o", color=BALANCED, ms=5)
    axes.set(xscale="log", xlim=(1e-16, 1e2), yticks=rows)
    axes.set_yticklabels([preset.name for preset in chosen])
    axes.set_xlabel("median |error| / |output| of 16 built-in pictures, float64")
    axes.invert_yaxis()
    _save(figure, axes, "presets")


def _relative_error(model: nn.Module, pictures: Tensor, preset: Preset) -> float:
    errors = [libragrad.audit(model, p[None], preset=preset).relative_error for p in pictures]
    return max(float(np.median(errors)), 1e-16)


def account() -> None:
    """Draw the account of one logit under both backward passes, and the plain one's leaks."""
    model, data = mosaic.load().double(), mosaic.mosaic_images()
    picture = mosaic.preprocess(data.images[:1]).double()
    figure, panels = plt.subplots(1, 2, figsize=(7.4, 2.9), width_ratios=[1, 1.15])
    leaks: dict[str, float] = {}
    for x, preset in enumerate((STANDARD, LIBRA)):
        audit = libragrad.audit(model, picture, preset=preset)
        parts = {"inputs": audit.inputs, "biases": sum(audit.biases.values()), "error": audit.error}
        for k, (part, amount) in enumerate(parts.items()):
            colour = (BALANCED, "#9ec1d4", PLAIN)[k]
            panels[0].bar(x + 0.2 * (k - 1), amount, 0.2, color=colour, label=part if x else None)
        panels[0].hlines(audit.output, x - 0.35, x + 0.35, color=INK, lw=1.4)
        if preset is STANDARD:
            leaks = dict(list(audit.by_operation().items())[:3])
    panels[0].axhline(0, color="#bbbbbb", lw=0.6, zorder=0)
    panels[0].set_xticks([0, 1], ["plain gradient", "LibraGrad"])
    panels[0].set_ylabel("logit (line: the output)")
    panels[0].legend(frameon=False, fontsize=8)
    panels[1].barh(range(len(leaks)), list(leaks.values()), color=PLAIN)
    panels[1].set_yticks(range(len(leaks)), [name.replace("_", " ") for name in leaks])
    panels[1].invert_yaxis()
    panels[1].set_xlabel("leak of the plain gradient, by operation")
    figure.tight_layout()
    figure.savefig(FOLDER / "account.svg", metadata=BARE)
    plt.close(figure)


def paths() -> None:
    """Draw what a gradient sees of a saturated function: at the point, and along the line."""
    t = torch.linspace(0, 1, 201, dtype=torch.float64)
    g = 3 * (1 - torch.tanh(3 * t) ** 2)
    figure, axes = plt.subplots(figsize=(4.6, 2.9))
    axes.fill_between(t, g, color=BALANCED, alpha=0.25, label="area: y(x) − y(0)", lw=0)
    axes.plot(t, g, color=BALANCED, lw=2, label="dy/dα,  y = tanh(3 α)")
    axes.hlines(g[-1], 0, 1, color=PLAIN, ls=(0, (4, 2)), label="the gradient at the point")
    axes.set(xlabel="α   (from the baseline, 0, to the input, 1)", ylim=(0, None), xlim=(0, 1.03))
    _save(figure, axes, "paths")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        rules()
        presets()
        account()
        paths()
