"""The page and the rows behind it: every case is counted once, none is left out."""

from __future__ import annotations

from conformance import report, results

OK = {"zoo": "a", "name": "good", "verdict": "ok", "error": 2e-16, "operations": {"layer norm": 3}}
LEAK = {
    "zoo": "a",
    "name": "bad",
    "verdict": "leak",
    "error": 0.25,
    "output": 4.0,
    "operations": {"affine": 1},
    "leaks": [["median", "pool", 1.0]],
    "unknown": ["median at pool"],
}
SKIPPED = {
    "zoo": "b",
    "name": "giant",
    "verdict": "skipped",
    "detail": "9.0 GiB of float64 parameters, budget 6.0",
}
LISTED = [("a", "good"), ("a", "bad"), ("b", "giant"), ("b", "later")]


def page(*rows):
    return report.markdown({(row["zoo"], row["name"]): row for row in rows}, LISTED)


def lines(text, start):
    return [line for line in text.splitlines() if line.startswith(start)]


def test_the_head_counts_what_was_judged():
    text = page(OK, LEAK, SKIPPED)
    assert "**1 of 2 judged cases are complete.**" in text
    assert lines(text, "| ok ")[0].startswith("| ok | 1 | 0 |")
    assert lines(text, "| leak ")[0].startswith("| leak | 1 | 0 |")
    assert lines(text, "| skipped ")[0].startswith("| skipped | 0 | 1 |")
    assert lines(text, "| not reached ")[0].startswith("| not reached | 0 | 1 |")


def test_a_leak_has_its_place_and_its_reason():
    (line,) = lines(page(OK, LEAK), "| a/bad ")
    assert line == (
        "| a/bad | leak | 2.5e-01 | median at pool (25 %) | "
        "no rule for median: PyTorch keeps its own gradient |"
    )


def test_what_was_not_judged_is_listed_by_its_reason():
    text = page(OK, SKIPPED)
    why = "its parameters need more than the memory budget"
    assert f"| b | skipped | {why} | 1 | giant |" in text
    later = "no run has come to it yet; it goes on where it stopped"
    assert f"| b | not reached | {later} | 1 | later |" in text


def test_a_case_is_a_line_of_operations_by_kind():
    (line,) = lines(page(OK), "| good ")
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells == ["good", "", "3", *[""] * 7, "2.0e-16", "ok", ""]


def test_a_case_that_is_no_longer_listed_is_left_out():
    assert "gone" not in page(OK, {"zoo": "a", "name": "gone", "verdict": "ok"})


def test_the_rules_of_a_page_can_be_read_back():
    assert report.rules_met(page(OK, LEAK)) == {"layer norm", "affine"}


def test_a_run_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "rows.jsonl"
    results.append(path, LEAK)
    results.append(path, OK)
    with path.open("a") as file:
        file.write('{"zoo": "b", "na')  # killed while writing
    rows = results.read(path)
    assert list(rows) == [("a", "bad"), ("a", "good")]
    assert results.pending(LISTED, rows) == [("b", "giant"), ("b", "later")]
    assert results.pending(LISTED[:2], rows, again=["leak"]) == [("a", "bad")]
    results.append(path, SKIPPED)
    assert ("b", "giant") in results.read(path)


def test_a_verdict_that_is_found_again_replaces_the_first(tmp_path):
    path = tmp_path / "rows.jsonl"
    results.append(path, LEAK)
    results.append(path, {**LEAK, "verdict": "ok"})
    assert results.read(path)["a", "bad"]["verdict"] == "ok"
