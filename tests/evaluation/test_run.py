"""A run measures what is missing, once; what fails, fails by name; and the run goes on."""

from __future__ import annotations

import signal
from collections import Counter

import pytest

from libragrad.evaluation import Failure, Report, table
from libragrad.evaluation.query import measured
from libragrad.evaluation.store import Store
from libragrad.evaluation.tables import plan_note
from tests.evaluation.linear_bench import LinearBench, LinearWorker
from tests.evaluation.runs import SIZE, demo, files, go, start, without

ROWS = 2 * 3 * 2 * SIZE


def counted(out):
    """How often each cell and image stands in the folder, as the tables see it."""
    store = Store(out)
    return Counter(
        (part.cell, image)
        for part in measured(store, plan_note(store, None).items)
        for image in part.rows["image"].to_pylist()
    )


def pictures_measured(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_every_row_is_measured_once(tmp_path):
    report = go(tmp_path)
    assert (report.measured, report.kept, report.exit_code) == (ROWS, 0, 0)
    assert str(report) == f"demo: {ROWS} rows measured, 0 kept, {tmp_path}"
    counts = counted(tmp_path)
    assert len(counts) == ROWS
    assert set(counts.values()) == {1}


def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    log = tmp_path / "log"
    go(tmp_path)
    before = files(tmp_path)
    report = go(tmp_path, LinearBench(SIZE, log=log))
    assert (report.measured, report.kept) == (0, ROWS)
    assert pictures_measured(log) == 0
    assert files(tmp_path) == before


def test_a_larger_sample_keeps_the_smaller_one(tmp_path):
    log = tmp_path / "log"
    go(tmp_path, limit=10)
    report = go(tmp_path, LinearBench(SIZE, log=log))
    assert (report.measured, report.kept) == (ROWS * 2 // 3, ROWS // 3)
    assert pictures_measured(log) == 2 * 20
    assert set(counted(tmp_path).values()) == {1}


def test_a_method_that_is_added_is_all_that_is_measured(tmp_path):
    log = tmp_path / "log"
    go(tmp_path, recipe=without(demo(), "random"))
    report = go(tmp_path, LinearBench(SIZE, log=log))
    assert (report.measured, report.kept) == (ROWS // 3, ROWS * 2 // 3)
    assert {line.split()[-1] for line in log.read_text().splitlines()} == {"2"}
    fresh = tmp_path / "fresh"
    go(fresh)
    assert table(tmp_path) == table(fresh)


def test_processes_give_the_same_shards(tmp_path):
    go(tmp_path / "one")
    go(tmp_path / "two", workers=2)
    assert files(tmp_path / "two") == files(tmp_path / "one")


def test_a_worker_that_dies_is_replaced_and_its_shard_done(tmp_path):
    scar = tmp_path / "scar"
    bench = LinearBench(SIZE, deadly="pictures-003", scar=scar)
    report = go(tmp_path / "out", bench, workers=2)
    assert scar.exists()
    assert report.exit_code == 0
    go(tmp_path / "fresh")
    assert files(tmp_path / "out") == files(tmp_path / "fresh")


def test_a_shard_that_kills_every_worker_is_named_and_the_others_done(tmp_path):
    deadly = LinearBench(SIZE).records("pictures", 1, 43)[0]
    report = go(tmp_path, LinearBench(SIZE, deadly=deadly), workers=2, limit=10)
    assert len(report.unfinished) == 2
    assert report.unfinished[0].endswith("3 workers died on it: exit code -9")
    assert report.exit_code == 1
    assert report.measured == 2 * 6 * 5
    assert go(tmp_path, limit=10).measured == 2 * 6 * 5  # it is not lost: a sound worker can


def test_a_corrupt_image_fails_by_name_and_cause(tmp_path):
    bench = LinearBench(SIZE, corrupt=("pictures-007",))
    report = go(tmp_path, bench)
    cause = "ValueError: pictures-007.png is cut short"
    assert report.failures == tuple(
        Failure(model, "pictures", "pictures-007", cause, 6) for model in ("a", "b")
    )
    assert report.exit_code == 1
    assert f"pictures-007 of pictures, a (6 cells): {cause}" in str(report)
    assert len(counted(tmp_path)) == ROWS - 12
    assert "failed: 6 rows without a result" in table(tmp_path)
    # It is remembered, and tried again only if that is wished.
    assert go(tmp_path, bench).failures == report.failures
    repaired = go(tmp_path, retry_failed=True)
    assert (repaired.failures, repaired.exit_code) == ((), 0)
    assert repaired.measured == 2 * 6 * 5
    go(tmp_path / "fresh")
    assert table(tmp_path) == table(tmp_path / "fresh")


def test_a_method_that_fails_leaves_the_others_whole(tmp_path):
    report = go(tmp_path, LinearBench(SIZE, hopeless=("random",)), limit=5)
    assert {failure.cause for failure in report.failures} == {
        "RuntimeError: random does not apply to a",
        "RuntimeError: random does not apply to b",
    }
    assert len(counted(tmp_path)) == 2 * 4 * 5


def test_a_worker_that_forgets_a_row_is_found_out(tmp_path, monkeypatch):
    whole = LinearWorker.measure
    monkeypatch.setattr(LinearWorker, "measure", lambda *given: list(whole(*given))[:-1])
    report = go(tmp_path, limit=5)
    assert {failure.cause for failure in report.failures} == {
        "RuntimeError: the worker gave 0 rows for 1 cells × 1 images"
    }


def test_a_model_that_cannot_be_had_does_not_stop_the_others(tmp_path):
    report = go(tmp_path, LinearBench(SIZE, lost=("a",)))
    assert len(report.unfinished) == SIZE / 5
    assert report.unfinished[0] == (
        "a on pictures, 5 images from "
        f"{LinearBench(SIZE).records('pictures', 1, 43)[0]}: OSError: no weights for a"
    )
    assert (report.measured, report.exit_code) == (ROWS // 2, 1)
    assert "not measured yet: 6 of 6 cells" in table(tmp_path)
    assert go(tmp_path).kept == ROWS // 2


def interrupt(out):
    worker = LinearWorker.measure

    def measure(self, cells, pictures):
        if pictures[0].id == LinearBench(SIZE).records("pictures", SIZE, 43)[10]:
            signal.raise_signal(signal.SIGINT)
        return worker(self, cells, pictures)

    LinearWorker.measure = measure  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        go(out)


def test_control_c_keeps_what_is_finished_and_leaves_no_claim(tmp_path):
    process = start(interrupt, tmp_path)
    process.join()
    assert process.exitcode == 0
    assert len(files(tmp_path)) == 2
    assert files(tmp_path, "claims") == {}
    assert go(tmp_path).kept == 2 * 6 * 5
    go(tmp_path / "fresh")
    assert files(tmp_path) == files(tmp_path / "fresh")


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"limit": 0}, {"batch_size": -1}])
def test_a_number_below_one_is_refused(tmp_path, wrong):
    with pytest.raises(ValueError, match="workers, batch_size and limit must be at least 1"):
        go(tmp_path, **wrong)


def test_the_progress_bar_counts_to_the_end(tmp_path, capsys):
    go(tmp_path, progress=True, limit=5)
    assert "100 %" in capsys.readouterr().err


def test_a_long_report_names_the_first_ten():
    failures = tuple(Failure("m", "d", f"{n:02d}", "broken", 1) for n in range(12))
    lines = str(Report("r", "f", 0, 0, failures=failures)).splitlines()
    assert lines[1:3] == ["failed images: 12", "  00 of d, m (1 cell): broken"]
    assert lines[-1] == "  and 2 more"
