"""Explanations of text: each token on a ground whose strength is its attribution.

Red is for the target and blue against it, as on the signed scale of pictures; the ground is as
opaque as the token's share of the 99th percentile of all absolute values.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from torch import Tensor

from libragrad.errors import InputError
from libragrad.picture.account import account
from libragrad.picture.ansi import RESET, code
from libragrad.picture.blocks import harmless
from libragrad.picture.document import document, resource
from libragrad.picture.explained import Explained
from libragrad.picture.numeral import numeral, plain
from libragrad.picture.recipe import RECIPES, Limits, limits

__all__ = ["AGAINST", "FOR", "strengths", "words_page", "words_terminal"]

FOR, AGAINST = (214, 69, 48), (42, 112, 190)


def strengths(values: Tensor, ends: Limits) -> list[float]:
    """value / limit, clamped to [−1, 1], for values (N,).

    >>> import torch
    >>> strengths(torch.tensor([-4.0, 1.0, 0.0]), Limits(-2.0, 2.0))
    [-1.0, 0.5, 0.0]
    """
    shares = (values.detach().double().cpu() / (ends.high or 1.0)).clamp(-1, 1)
    return [float(share) for share in shares]


def words_page(explanation: Explained, words: Sequence[str], of: str = "logit") -> str:
    """One HTML file: the text once for each target, with the value of each token on demand."""
    rows, ends = _checked(explanation, words)
    parts = []
    for i, (label, values) in enumerate(zip(explanation.labels, rows, strict=True)):
        tokens = "".join(
            _token(word, float(value), share)
            for word, value, share in zip(words, values, strengths(values, ends), strict=True)
        )
        said = escape(_account(explanation, i, of))
        parts.append(
            f'<section><h2>{escape(label)}</h2><p class="text">{tokens}</p>'
            f'<output></output><p class="account">{said}</p></section>'
        )
    scale = (
        f'<div class="legend"><div class="scale" style="background: linear-gradient(to right, '
        f'rgb{AGAINST}, transparent, rgb{FOR})"></div><div class="ticks">'
        f"<span>≤ {numeral(ends.low)}</span><span>0</span><span>≥ {numeral(ends.high)}</span></div>"
        "<p>attribution of each token</p></div>"
    )
    body = f"<h1>{escape(explanation.name)}</h1>{scale}{''.join(parts)}"
    return document(explanation.name, body, resource("page.css"), resource("words.js"))


def words_terminal(
    explanation: Explained, words: Sequence[str], colours: int, of: str = "logit"
) -> str:
    """The text for a terminal of so many colours; with none, values stand behind the tokens."""
    rows, ends = _checked(explanation, words)
    words = [harmless(word) for word in words]
    lines = []
    for i, (label, values) in enumerate(zip(explanation.labels, rows, strict=True)):
        shares = strengths(values, ends)
        lines.append(harmless(f"{explanation.name}: {label}"))
        if colours:
            lines.append("".join(_lit(w, s, colours) for w, s in zip(words, shares, strict=True)))
        else:
            pairs = zip(words, values, strict=True)
            lines.append(" ".join(f"{word.strip()}[{float(v):+.2g}]" for word, v in pairs))
        said = _account(explanation, i, of)
        lines += [said if colours else plain(said), ""]
    return "\n".join(lines)


def _token(word: str, value: float, share: float) -> str:
    red, green, blue = FOR if share > 0 else AGAINST
    shown = escape(word).replace("\n", "↵<br>")
    return (
        f'<span tabindex="0" data-value="{value:.6g}" title="{numeral(value)}" '
        f'style="background: rgb({red} {green} {blue} / {abs(share) * 0.75:.3f})">{shown}</span>'
    )


def _lit(word: str, share: float, colours: int) -> str:
    """The token in white on its colour, darker the less it matters, or as it is."""
    if abs(share) < 0.05:
        return word
    full = FOR if share > 0 else AGAINST
    paper = [round(abs(share) * part + (1 - abs(share)) * 30) for part in full]
    lit = f"{code('paper', paper, colours)}{code('ink', (255, 255, 255), colours)}"
    return "\n".join(f"{lit}{part}{RESET}" if part else "" for part in word.split("\n"))


def _account(explanation: Explained, index: int, of: str) -> str:
    return account(
        float(explanation.completeness_error[index]),
        float(explanation.output[index]),
        float(explanation.unattributed[index]),
        of,
    ).replace("outside the picture", "outside the text")


def _checked(explanation: Explained, words: Sequence[str]) -> tuple[Tensor, Limits]:
    """The values of the tokens, (B, N), and the ends of their scale."""
    values = explanation.map
    if values.ndim != 3 or values.shape[1] != 1 or values.shape[2] != len(words):
        raise InputError(
            f"a text of {len(words)} tokens needs a map of shape (B, 1, {len(words)}); "
            f"got {tuple(values.shape)}"
        )
    return values[:, 0], limits(values, RECIPES["signed"])
