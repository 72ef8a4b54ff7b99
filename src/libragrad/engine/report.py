"""The account as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from libragrad.engine.audit import Audit

_ROWS = 8


def as_text(audit: Audit) -> str:
    """Return the audit as text, at most 78 columns wide."""
    y = audit.output
    head = [
        f"Account under {audit.preset.name}",
        _line("input × gradient", audit.inputs, y),
        _line(f"{len(audit.biases)} bias terms", sum(audit.biases.values()), y),
        _line("explained", audit.explained, y),
        _line("output", y, y),
        f"  {'error':<40}{audit.error:>14.3g}  ({audit.relative_error:.1e} of output)",
    ]
    return "\n".join(head + _leaks(audit) + _unknown(audit) + _operations(audit))


def _line(name: str, amount: float, y: float) -> str:
    share = f"{amount / y:10.1%}" if y else ""
    return f"  {name:<40}{amount:>14.6g}{share}"


def _leaks(audit: Audit) -> list[str]:
    floor = 1e-6 * max(abs(audit.output), abs(audit.error))
    large = [leak for leak in audit.leaks if abs(leak.leak) > floor]
    if not large:
        return ["No operation leaks."]
    lines = [f"Leaks, largest first ({len(large)} in all)"]
    for leak in large[:_ROWS]:
        place = _short(f"{leak.operation} at {leak.module or 'the model itself'}", 40)
        lines.append(_line(place, leak.leak, audit.output))
    if len(large) > _ROWS:
        lines.append(_line("the others", sum(x.leak for x in large[_ROWS:]), audit.output))
    lines.append("Leaks by operation")
    for name, amount in list(audit.by_operation().items())[:_ROWS]:
        if abs(amount) > floor:
            lines.append(_line(_short(name, 40), amount, audit.output))
    return lines


def _unknown(audit: Audit) -> list[str]:
    if not audit.unknown:
        return []
    return ["Operations without a rule", *(f"  {place}" for place in audit.unknown)]


def _operations(audit: Audit) -> list[str]:
    counts = ", ".join(f"{count} {rule}" for rule, count in audit.operations.items())
    lines, line = ["Operations by rule"], " "
    for item in counts.split(", "):
        if len(line) + len(item) > 76:
            lines.append(line.rstrip())
            line = " "
        line += f" {item},"
    return [*lines, line.rstrip(",")]


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
