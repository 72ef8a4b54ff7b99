"""Judge one case: the forward is untouched, the model is untouched, the account balances."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

import libragrad
from conformance.case import Inputs, Skipped, Subject
from conformance.native import Native, Unusable, call, cast, foreign, lowered, run
from conformance.outputs import flatten, projection
from conformance.randomise import randomise, settle
from conformance.snapshot import changed, snapshot

COMPLETE = 1e-9
COMPLETE_IN_FLOAT32 = 1e-4
EXPLODED = 1e4

OK = "ok"
FLOAT32 = "float32 inside"
LEAK = "leak"
DIFFERS = "forward differs"
TOUCHED = "model touched"
REFUSED = "refused"
NATIVE = "native error"
SKIPPED = "skipped"
CONSTANT = "constant"
RUNS = "runs"


@dataclass
class Row:
    """The verdict on one case, as it is written to the results."""

    zoo: str
    name: str
    verdict: str
    error: float | None = None
    output: float | None = None
    inputs: float | None = None
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
    torch.manual_seed(0)
    try:
        subject = build(name)
        row.note = subject.note
        row.parameters = sum(p.numel() for p in subject.model.parameters())
        # Not `to(dtype)`, which would make complex buffers real.
        single = subject.dtype is torch.float32
        randomise(subject.model.float() if single else subject.model.double())
        _judge(subject, row, native)
    except Skipped as reason:
        row.verdict, row.detail = SKIPPED, str(reason)
    except Exception as error:
        row.detail = _text(error)
    row.seconds = round(time.perf_counter() - start, 2)
    return row


def _judge(subject: Subject, row: Row, native_only: bool) -> None:
    model, dtype = subject.model, subject.dtype
    inputs = cast(subject.inputs, dtype)
    try:
        native = run(model, inputs)
    except Unusable:
        raise
    except Exception as error:
        row.note = f"{row.note}; not in float64: {_text(error, 80)}".lstrip("; ")
        model, inputs, dtype = model.float(), cast(subject.inputs, torch.float32), torch.float32
        native = run(model, inputs)
    if _explodes(native):
        settle(model, partial(call, model, inputs))
        native = run(model, inputs)
    if native_only:
        row.verdict = RUNS
        return
    before = snapshot(model)
    row.verdict = REFUSED
    with libragrad.balanced():
        balanced = flatten(call(model, inputs))
    different = foreign(balanced, native, model, inputs)
    listening: list[str] = []

    def target(output: Any) -> Tensor:
        outputs = flatten(output)
        different.extend(foreign(outputs, native, model, inputs))
        listening.extend(path for path in native.paths if outputs[path].requires_grad)
        return projection(listening or native.paths)(output)

    torch.manual_seed(0)
    account = libragrad.audit(model, inputs, target=target)
    _describe(row, account)
    pruned = [path for path in native.paths if path not in listening]
    if pruned:
        row.note = f"{row.note}; constant under Libra: {_few(pruned)}".lstrip("; ")
    touched = changed(before, snapshot(model))
    if different:
        row.verdict, row.detail = DIFFERS, _few(different)
    elif touched:
        row.verdict, row.detail = TOUCHED, _few(touched)
    elif account.inputs == 0:
        row.verdict, row.detail = CONSTANT, "no gradient reaches the input"
    else:
        row.verdict = _completeness(account.relative_error, model, inputs, dtype, row)


def _explodes(native: Native) -> bool:
    """Whether an output is so large that float64 itself cannot be trusted to nine digits."""
    outputs = [native.outputs[path] for path in native.paths]
    return any(bool((z.abs() > EXPLODED).any()) for z in outputs)


def _describe(row: Row, account: libragrad.Audit) -> None:
    """Copy what the audit says into the row."""
    row.error, row.output = account.relative_error, account.output
    row.inputs = account.inputs
    row.operations = dict(account.operations)
    row.unknown = sorted(map(str, account.unknown))
    largest = sorted(account.leaks, key=lambda leak: -abs(leak.leak))[:3]
    row.leaks = [(leak.operation, leak.module, leak.leak) for leak in largest]


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


def _few(names: list[str]) -> str:
    names = [name or "the output" for name in dict.fromkeys(names)]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
