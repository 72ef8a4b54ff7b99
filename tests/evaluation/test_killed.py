"""A run that is killed and started again ends with the very table of one that was left alone."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random

from libragrad.evaluation import table
from tests.evaluation.linear_bench import LinearBench
from tests.evaluation.runs import SIZE, demo, files, go, start

KILLS = 20
SMALL = {"recipe": demo(["input_x_grad"], ["a"]), "limit": 10}


class DiesAt:
    """Kills its own process before the n-th call of any function that it is put around."""

    def __init__(self, number: int) -> None:
        self.left = number

    def around(self, function):
        def call(*arguments, **options):
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return call


def run_and_die(out: Path, number: int) -> None:
    death = DiesAt(number)
    for name in ("fsync", "replace", "link", "unlink", "open"):
        setattr(os, name, death.around(getattr(os, name)))
    go(out, **SMALL)


def test_a_run_killed_at_random_moments_gives_the_same_table(tmp_path):
    undisturbed = tmp_path / "undisturbed"
    start(go, undisturbed).join()  # the first process of all takes longer
    begun = time.perf_counter()
    start(go, tmp_path / "measured").join()
    duration = time.perf_counter() - begun
    draw, killed, out = Random(20), 0, tmp_path / "0"
    while killed < KILLS:
        process = start(go, out)
        process.join(timeout=draw.uniform(0.02, 0.7) * duration)
        process.kill()
        process.join()
        if process.exitcode == -signal.SIGKILL:
            killed += 1
        else:
            out = tmp_path / str(killed)  # it was done before it could be killed
    go(out)
    assert len(files(out)) == 2 * SIZE / 5
    assert files(out) == files(undisturbed)
    assert table(out) == table(undisturbed)


def test_a_run_killed_at_any_step_of_writing_gives_the_same_table(tmp_path):
    undisturbed, log = tmp_path / "undisturbed", tmp_path / "log"
    go(undisturbed, **SMALL)
    shards, kept = len(files(undisturbed)), set()
    assert shards == 2
    for number in range(1, 100):
        out = tmp_path / str(number)
        process = start(run_and_die, out, number)
        process.join()
        if process.exitcode == 0:
            break  # the run is over before that call
        assert process.exitcode == -signal.SIGKILL
        finished = len(files(out))
        kept.add(finished)
        log.write_text("")
        report = go(out, LinearBench(SIZE, log=log), **SMALL)
        assert files(out) == files(undisturbed)
        # What was finished is not measured again.
        assert report.kept == 20 * finished
        assert len(log.read_text().splitlines()) == 5 * (shards - finished)
    assert kept == set(range(shards + 1))
