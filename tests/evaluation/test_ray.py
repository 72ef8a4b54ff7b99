"""The same through Ray: a worker that dies in mid-run is replaced, and nothing differs."""

from __future__ import annotations

import sys

import pytest

from libragrad.errors import MissingExtraError, ResultsError
from libragrad.evaluation import table
from tests.evaluation.linear_bench import LinearBench
from tests.evaluation.runs import SIZE, files, go


def test_without_ray_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError) as missing:
        go(tmp_path, ray="local")
    assert str(missing.value) == (
        "a run on Ray needs the package ray, which is not installed; "
        "run: pip install 'libragrad[ray]'"
    )


# Ray itself warns of what its next version will do, and leaves files of its logs open.
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_run_on_ray_with_a_worker_that_dies_gives_the_same_table(tmp_path):
    pytest.importorskip("ray")
    bench = LinearBench(
        SIZE, deadly="pictures-003", scar=tmp_path / "scar", corrupt=("pictures-007",)
    )
    report = go(tmp_path / "ray", bench, ray="local", workers=2)
    assert (tmp_path / "scar").exists()
    assert report.unfinished == ()
    alone = go(tmp_path / "alone", LinearBench(SIZE, corrupt=("pictures-007",)))
    assert report.failures == alone.failures
    assert files(tmp_path / "ray") == files(tmp_path / "alone")
    assert table(tmp_path / "ray") == table(tmp_path / "alone")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_that_does_not_answer_is_said(tmp_path):
    pytest.importorskip("ray")
    with pytest.raises(ResultsError, match=r"no Ray cluster answers at 'nowhere': .*; start one"):
        go(tmp_path, ray="nowhere")
