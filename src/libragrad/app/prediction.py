"""What the model sees, as bars: in the whole picture, and without the deleted patches."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import torch
from torch import Tensor

from libragrad.app.session import Session
from libragrad.picture.numeral import numeral
from libragrad.targets.kinds import Output, score
from libragrad.targets.output import ClassLogits

__all__ = ["choices", "prediction", "top"]

SHOWN = 5


def top(logits: ClassLogits, count: int = SHOWN) -> list[int]:
    """The classes with the largest logits, the first first.

    >>> top(ClassLogits(torch.tensor([[0.0, 2.0, 1.0]])), 2)
    [1, 2]
    """
    return [int(i) for i in logits.z[0].topk(min(count, logits.z.shape[1])).indices]


def choices(session: Session, chosen: Sequence[int]) -> list[tuple[str, int]]:
    """The classes to choose from, with their shares: the leading ones, and those chosen before."""
    shares = _shares(session.before)
    classes = dict.fromkeys([*top(session.before), *chosen])
    return [(f"{session.name(k)} · {_share(shares, k)}", k) for k in classes]


def prediction(session: Session) -> str:
    """The leading classes with their shares, before and after deletion."""
    asked = session.question.targets if session.question else ()
    classes = dict.fromkeys([*top(session.before), *asked, *top(session.now, 1)])
    whole, now = _shares(session.before), _shares(session.now)
    bars = "".join(_bar(session, k, whole, now) for k in classes)
    return f'<ul class="bars">{bars}</ul><p role="status">{escape(_said(session))}</p>'


def _shares(logits: ClassLogits) -> Tensor:
    """Each class's probability; of a single prompt, which has none, its score."""
    classes = torch.arange(logits.z.shape[1], device=logits.z.device)[None]
    kind = Output.LOGIT if classes.shape[1] == 1 else Output.PROBABILITY
    return score(logits, classes, kind)[0]


def _bar(session: Session, k: int, whole: Tensor, now: Tensor) -> str:
    was, is_now = _share(whole, k), _share(now, k)
    words = was if session.rest is None else f"{was} → {is_now}"
    widths = [0.0 if len(shares) == 1 else 100 * float(shares[k]) for shares in (whole, now)]
    return (
        f"<li><span>{escape(session.name(k))}</span><span>{escape(words)}</span>"
        f'<div><i style="width:{widths[0]:.2f}%"></i><b style="width:{widths[1]:.2f}%"></b></div>'
        "</li>"
    )


def _share(shares: Tensor, k: int) -> str:
    value = float(shares[k])
    return numeral(value) if len(shares) == 1 else f"{numeral(100 * value)} %"


def _said(session: Session) -> str:
    masker, gone = session.witness.masker, len(session.deleted)
    how = f"{masker.used.summary}{f' ({masker.reason})' if masker.reason else ''}"
    if not gone:
        return f"Click patches to delete them: {how}."
    return f"{gone} of {masker.patches} patches deleted: {how}."
