"""`docs/conformance.md` from the rows: the counts, what is missing and why, then every case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from conformance.kinds import KINDS, by_kind, kinds
from conformance.reasons import reason
from conformance.results import Row

COMPLETE = ("ok", "float32 inside")
NOT_JUDGED = ("native error", "not built", "skipped", "lost", "not reached")
MEANINGS = {
    "ok": "forward bit-identical, model untouched, relative completeness error below 1e-9",
    "float32 inside": "the same, below 1e-4: the model itself computes in float32",
    "leak": "the account does not balance; the operation is named below",
    "forward differs": "an output is not bit-identical to the plain forward's",
    "model touched": "a parameter, buffer, flag, hook or class is not as it was",
    "refused": "the engine raised an error",
    "constant": "no gradient reaches the input: its account is one constant",
    "native error": "the model itself does not run here, or gives nothing to explain",
    "not built": "it wants sizes, inputs or packages of its own beside the tiny configuration",
    "skipped": "too large for the memory budget",
    "lost": "the process was killed or ran out of time",
    "not reached": "no run has come to it yet; it goes on where it stopped",
}


def line(row: Row) -> str:
    """One case on one line, for the progress of a run."""
    error = row.get("error")
    size = "" if error is None else f" {error:.1e}"
    detail = row.get("detail") or (leak(row) if row["verdict"] == "leak" else "")
    text = (
        f"{row['zoo']}/{row['name']}: {row['verdict']}{size} {row.get('seconds', 0):.1f}s {detail}"
    )
    return text.rstrip()[:300]


def leak(row: Row) -> str:
    """The largest leak of a row: operation, place and size relative to the output.

    >>> leak({"leaks": [["median", "model.pool", 0.5]], "output": 2.0})
    'median at model.pool (25 %)'
    """
    if not row.get("leaks"):
        return ""
    operation, module, size = row["leaks"][0]
    share = abs(size) / max(abs(row.get("output") or 0.0), 1e-300)
    return (
        f"{operation} at {module or 'the model'} ({share:.2g})"
        if share > 10
        else (f"{operation} at {module or 'the model'} ({100 * share:.2g} %)")
    )


def markdown(rows: Mapping[tuple[str, str], Row], listed: Iterable[tuple[str, str]]) -> str:
    """The whole report on the cases that are `listed`; one without a row is not reached."""
    ordered: list[Row] = [
        rows.get((zoo, name), {"zoo": zoo, "name": name, "verdict": "not reached"})
        for zoo, name in sorted(listed)
    ]
    zoos = list(dict.fromkeys(row["zoo"] for row in ordered))
    parts = ["# Conformance", INTRODUCTION, summary(ordered, zoos)]
    parts += [incomplete(ordered), unjudged(ordered), rules(ordered)]
    parts += [table(zoo, [row for row in ordered if row["zoo"] == zoo]) for zoo in zoos]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary(rows: list[Row], zoos: list[str]) -> str:
    """The counts, verdict by zoo."""
    counts = Counter((row["zoo"], row["verdict"]) for row in rows)
    verdicts = [v for v in MEANINGS if any(counts[zoo, v] for zoo in zoos)]
    judged = [row for row in rows if row["verdict"] not in NOT_JUDGED]
    complete = sum(row["verdict"] in COMPLETE for row in judged)
    lines = [f"**{complete} of {len(judged)} judged cases are complete.**", ""]
    lines += [_cells("verdict", *zoos, "meaning"), _cells(*["---"] * (len(zoos) + 2))]
    lines += [_cells(v, *(counts[zoo, v] for zoo in zoos), MEANINGS[v]) for v in verdicts]
    return "\n".join(lines)


def incomplete(rows: list[Row]) -> str:
    """Every case that is judged and not complete, with its leak and the reason."""
    missed = [row for row in rows if row["verdict"] not in (*COMPLETE, *NOT_JUDGED)]
    if not missed:
        return ""
    lines = ["## Not complete", "", _cells("case", "verdict", "error", "largest leak", "reason")]
    lines.append(_cells(*["---"] * 5))
    for row in missed:
        case = f"{row['zoo']}/{row['name']}"
        lines.append(_cells(case, row["verdict"], _error(row), leak(row), reason(row)))
    return "\n".join(lines)


def unjudged(rows: list[Row]) -> str:
    """Every case that could not be judged, with the reason; those of one reason on one line."""
    missed = [row for row in rows if row["verdict"] in NOT_JUDGED]
    if not missed:
        return ""
    names: dict[tuple[str, str, str], list[str]] = {}
    for row in missed:
        names.setdefault((row["zoo"], row["verdict"], why_not(row)), []).append(row["name"])
    lines = ["## Not judged", "", _cells("zoo", "verdict", "reason", "number", "cases")]
    lines.append(_cells(*["---"] * 5))
    for (zoo, verdict, why), cases in names.items():
        lines.append(_cells(zoo, verdict, why, len(cases), ", ".join(cases)))
    return "\n".join(lines)


def why_not(row: Row) -> str:
    """The reason for which a case was not judged, without the numbers that are its own.

    >>> why_not({"verdict": "skipped", "detail": "8.1 GiB of float64 parameters, budget 6.0"})
    'its parameters need more than the memory budget'
    """
    if row["verdict"] == "skipped" and "budget" in row.get("detail", ""):
        return "its parameters need more than the memory budget"
    return str(row.get("detail") or MEANINGS[row["verdict"]])


def rules(rows: list[Row]) -> str:
    """Every rule that some case met: how many cases, how many operations."""
    cases: Counter[str] = Counter()
    operations: Counter[str] = Counter()
    for row in rows:
        cases.update(row.get("operations", {}).keys())
        operations.update(row.get("operations", {}))
    of = kinds()
    lines = ["## Rules met", "", _cells("rule", "kind", "cases", "operations")]
    lines.append(_cells("---", "---", "--:", "--:"))
    ordered = sorted(cases, key=lambda rule: (KINDS.index(of[rule]), -cases[rule], rule))
    lines += [_cells(rule, of[rule], cases[rule], operations[rule]) for rule in ordered]
    return "\n".join(lines)


def rules_met(page: str) -> set[str]:
    """Read back the rules of a written page.

    >>> rules_met(rules([{"operations": {"layer norm": 2, "affine": 1}}])) == {
    ...     "layer norm",
    ...     "affine",
    ... }
    True
    """
    section = page.split("## Rules met", 1)[1].split("\n## ", 1)[0]
    lines = [line.split("|") for line in section.splitlines() if line.startswith("|")]
    return {cells[1].strip() for cells in lines[2:]}


def table(zoo: str, rows: list[Row]) -> str:
    """All judged cases of one zoo: operations by kind of rule, error, verdict."""
    judged = [row for row in rows if row["verdict"] not in NOT_JUDGED]
    lines = [f"## {zoo}", "", _cells("model", *KINDS, "error", "verdict", "note")]
    lines.append(_cells("---", *["--:"] * len(KINDS), "--:", "---", "---"))
    for row in judged:
        counts = by_kind(row.get("operations", {}))
        numbers = (counts[kind] or "" for kind in KINDS)
        lines.append(
            _cells(row["name"], *numbers, _error(row), row["verdict"], row.get("note", ""))
        )
    return "\n".join(lines) if judged else ""


def _error(row: Row) -> str:
    return "" if row.get("error") is None else f"{row['error']:.1e}"


def _cells(*cells: object) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


INTRODUCTION = """\
Every model below was built at random weights, with all biases, norm weights, norm statistics, layer
scales, tokens and position tables randomised, in float64. Then

* its forward inside `libragrad.balanced()` is compared bit by bit with the plain one (of the model
  as it is, frozen, or without gradients: PyTorch's choice of kernels follows these, and the last
  bits follow the kernels);
* its parameters, buffers, flags, hooks, classes and modes are compared with what they were before;
* a scalar, a random projection of every output that depends on the input, is explained and compared
  with the sum of its account.

The cases are: timm, every name that fits in memory; torchvision, every classifier; open_clip, image
and text tower of every family; transformers, one or two classes of every family that runs at a tiny
configuration, with both attention implementations where there are two. Operations are counted by
the kind of their rule, one for each file of `src/libragrad/rules/`.

Written by `python -m conformance`; nothing here is edited by hand."""
