"""Judge one case: the forward is untouched, the model is untouched, the account balances."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import nn

import libragrad
from conformance.case import Inputs, Skipped, Subject
from conformance.native import Unusable, call, cast, lowered, run
from conformance.outputs import differing, flatten, projection
from conformance.randomise import randomise
from conformance.snapshot import changed, snapshot

COMPLETE = 1e-9
COMPLETE_IN_FLOAT32 = 1e-4

OK = "ok"
FLOAT32 = "float32 inside"
LEAK = "leak"
DIFFERS = "forward differs"
TOUCHED = "model touched"
REFUSED = "refused"
NATIVE = "native error"
SKIPPED = "skipped"
RUNS = "runs"


@dataclass
class Row:
    """The verdict on one case, as it is written to the results."""

    zoo: str
    name: str
    verdict: str
    error: float | None = None
    output: float | None = None
    operations: dict[str, int] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    leaks: list[tuple[str, str, float]] = field(default_factory=list)
    detail: str = ""
    note: str = ""
    parameters: int = 0
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """The row as plain data."""
        return asdict(self)


def judge(zoo: str, name: str, build: Callable[[str], Subject], native: bool = False) -> Row:
    """Build the case `name` and return its row; whatever goes wrong is in the row.

    With `native`, only the model itself is tried, without the engine.
    """
    start = time.perf_counter()
    row = Row(zoo, name, NATIVE)
    try:
        subject = build(name)
        row.note = subject.note
        row.parameters = sum(p.numel() for p in subject.model.parameters())
        randomise(subject.model)
        _judge(subject, row, native)
    except Skipped as reason:
        row.verdict, row.detail = SKIPPED, str(reason)
    except Exception as error:
        row.detail = _text(error)
    row.seconds = round(time.perf_counter() - start, 2)
    return row


def _judge(subject: Subject, row: Row, native_only: bool) -> None:
    model, inputs, dtype = subject.model.double(), cast(subject.inputs, torch.float64), torch.float64
    try:
        native = run(model, inputs)
    except Unusable:
        raise
    except Exception as error:
        row.note = f"{row.note}; not in float64: {_text(error, 80)}".lstrip("; ")
        model, inputs, dtype = model.float(), cast(subject.inputs, torch.float32), torch.float32
        native = run(model, inputs)
    if native_only:
        row.verdict, row.output = RUNS, native.value
        return
    before = snapshot(model)
    row.verdict = REFUSED
    with libragrad.balanced():
        balanced = flatten(call(model, inputs))
    different = differing(native.outputs, balanced)
    del balanced
    torch.manual_seed(0)
    account = libragrad.audit(model, inputs, target=projection(native.paths))
    row.error, row.output = float(account.relative_error), float(account.output)
    row.operations = {str(rule): int(n) for rule, n in account.operations.items()}
    row.unknown = sorted({" at ".join(map(str, place)) if isinstance(place, tuple) else str(place) for place in account.unknown})
    largest = sorted(account.leaks, key=lambda leak: -abs(leak.leak))[:3]
    row.leaks = [(str(leak.operation), str(leak.module), float(leak.leak)) for leak in largest]
    touched = changed(before, snapshot(model))
    if different:
        row.verdict, row.detail = DIFFERS, ", ".join(different[:5])
    elif touched:
        row.verdict, row.detail = TOUCHED, ", ".join(touched[:5])
    elif abs(row.output - native.value) > 1e-6 * abs(native.value):
        row.verdict, row.detail = DIFFERS, f"y is {row.output:.6g}, natively {native.value:.6g}"
    else:
        row.verdict = _completeness(row.error, model, inputs, dtype, row)


def _completeness(
    error: float, model: nn.Module, inputs: Inputs, dtype: torch.dtype, row: Row
) -> str:
    if error < COMPLETE:
        return OK
    below = {dtype} - {torch.float64} or lowered(model, inputs)
    if below and error < COMPLETE_IN_FLOAT32:
        return FLOAT32
    if below:
        row.note = f"{row.note}; computes in {', '.join(map(str, below))}".lstrip("; ")
    return LEAK


def _text(error: Exception, length: int = 300) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:length]
