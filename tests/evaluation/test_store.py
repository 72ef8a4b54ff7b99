"""The results folder: what is corrupt is recognised, a full disk says so, claims are kept."""

from __future__ import annotations

import errno
import json
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from libragrad.errors import ResultsError
from libragrad.evaluation import table
from libragrad.evaluation.claims import Claims
from libragrad.evaluation.location import LocalFolder, open_location
from libragrad.evaluation.owner import SILENCE, Owner
from libragrad.evaluation.store import Store
from tests.evaluation.linear_bench import LinearBench
from tests.evaluation.runs import SIZE, demo, files, go, start


def cut_short(data):
    return data[: len(data) // 2]


def flipped(data):
    place = len(data) // 3
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def emptied(data):
    return b""


def swapped_with_another(data):
    return None


DAMAGES = [cut_short, flipped, emptied, swapped_with_another]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_corrupt_shard_is_set_aside_by_name_and_done_again(tmp_path, damage):
    go(tmp_path, limit=10)
    before, expected = files(tmp_path), table(tmp_path)
    name, other, *_ = sorted(before)
    hurt = damage(before[name])
    (tmp_path / "shards" / name).write_bytes(before[other] if hurt is None else hurt)
    with pytest.raises(ResultsError, match=f"shards/{name} in .* is corrupt: .*; run the eval"):
        table(tmp_path)
    report = go(tmp_path, limit=10)
    address = name.removesuffix(".parquet")
    assert len(report.set_aside) == 1
    assert report.set_aside[0].startswith(f"shards/{name} is corrupt (")
    assert report.set_aside[0].endswith(f"; it is now aside/{address}.1.parquet and done again")
    assert report.measured == 6 * 5
    assert files(tmp_path) == before
    assert table(tmp_path) == expected
    assert list(files(tmp_path, "aside")) == [f"{address}.1.parquet"]


def test_every_single_flipped_byte_is_seen(tmp_path):
    go(tmp_path, recipe=demo(["input_x_grad"], ["a"]), limit=1)
    (name, data), *_ = files(tmp_path).items()
    store, path = Store(tmp_path), tmp_path / "shards" / name
    table_before = store.survey()
    assert not table_before.set_aside
    harmless = 0
    for place in range(0, len(data), 41):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        survey = store.survey()
        # A byte that no value depends on (a statistic, a writer's name) may change unseen.
        harmless += not survey.set_aside
        if survey.items:
            assert survey.items == table_before.items
        for aside in (tmp_path / "aside").glob("*"):
            aside.unlink()
    assert harmless < len(data) / 41


class FullDisk(LocalFolder):
    """A folder that takes so many files of shards and no more."""

    room = 3

    def write(self, name, data):
        if name.startswith("shards/") and len(self.names("shards")) >= self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
        super().write(name, data)


def test_a_full_disk_stops_the_run_and_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "libragrad.evaluation.store.open_location", lambda folder: FullDisk(Path(folder))
    )
    with pytest.raises(ResultsError) as full:
        go(tmp_path)
    assert str(full.value) == (
        f"results folder {tmp_path}: the disk is full; everything finished is kept, "
        "make room and run again to continue"
    )
    assert len(files(tmp_path)) == 3
    assert files(tmp_path, "claims") == files(tmp_path, "partial") == {}
    monkeypatch.undo()
    assert go(tmp_path).kept == 3 * 6 * 5
    go(tmp_path / "fresh")
    assert files(tmp_path) == files(tmp_path / "fresh")


def test_a_write_that_fails_half_way_leaves_no_file(tmp_path, monkeypatch):
    def fails(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = LocalFolder(tmp_path)
    folder.write("shards/a", b"old")
    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="No space left"):
        folder.write("shards/a", b"new")
    monkeypatch.undo()
    assert folder.read("shards/a") == b"old"
    assert folder.names("partial") == []


def test_a_folder_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "out").write_text("a file is in the way")
    with pytest.raises(ResultsError, match=r"results folder .*out: it cannot be written: Not a d"):
        go(tmp_path / "out")


def test_what_killed_writers_leave_behind_is_swept_up_later(tmp_path):
    folder = LocalFolder(tmp_path)
    folder.write("shards/a", b"")
    old, new = tmp_path / "partial/old", tmp_path / "partial/new"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    folder.sweep()
    assert folder.names("partial") == ["partial/new"]


@pytest.mark.parametrize("url", ["memory://results", None], ids=["remote", "local"])
def test_both_kinds_of_places_keep_the_same_promises(tmp_path, url):
    place = open_location(f"{url}/{tmp_path.name}" if url else tmp_path)
    assert place.names("a") == []
    assert not place.exists("a/x")
    assert place.create("a/x", b"1")
    assert not place.create("a/x", b"2")
    assert place.read("a/x") == b"1"
    place.write("a/x", b"3")
    place.write("a/y", b"4")
    assert (place.read("a/x"), place.names("a")) == (b"3", ["a/x", "a/y"])
    place.move("a/y", "b/z")
    place.move("a/gone", "b/gone")
    place.remove("a/gone")
    place.remove("a/x")
    assert (place.names("a"), place.names("b")) == ([], ["b/z"])
    with pytest.raises(FileNotFoundError):
        place.read("a/x")


def test_a_run_on_a_remote_place_gives_the_same_table(tmp_path):
    go(tmp_path, limit=10)
    url = f"memory://results/{tmp_path.name}"
    go(url, limit=10)
    assert table(url) == table(tmp_path)
    assert go(url, limit=10).measured == 0


def run_with_log(out, log):
    go(out, LinearBench(SIZE, log=log))


def test_two_runs_on_one_folder_share_the_work(tmp_path):
    out, log = tmp_path / "out", tmp_path / "log"
    processes = [start(run_with_log, out, log) for _ in range(2)]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    go(tmp_path / "alone")
    assert files(out) == files(tmp_path / "alone")
    assert table(out) == table(tmp_path / "alone")
    done = log.read_text().splitlines()
    assert len(done) == len(set(done)) == 2 * SIZE
    assert files(out, "claims") == {}


def claim(out, shard, owner):
    (out / "claims").mkdir(parents=True, exist_ok=True)
    (out / "claims" / f"{shard}.json").write_text(json.dumps(owner.fields()))


def test_a_claim_outlives_its_owner_only_until_it_is_missed(tmp_path):
    alive = Owner.here()
    owners = {
        "alive": (alive, True),
        "dead": (replace(alive, process=2**22 - 1), False),
        "reborn": (replace(alive, born="1"), False),
        "distant": (replace(alive, host="elsewhere"), True),
        "silent": (replace(alive, host="elsewhere", beat=alive.beat - SILENCE - 1), False),
    }
    claims = Claims(open_location(tmp_path))
    for shard, (owner, held) in owners.items():
        claim(tmp_path, shard, owner)
        assert (claims.holder(shard) is not None, shard) == (held, shard)
        assert (claims.take(shard), shard) == (not held, shard)
    assert str(alive) == f"process {os.getpid()} on {socket.gethostname()}"


def test_a_damaged_claim_holds_nothing(tmp_path):
    (tmp_path / "claims").mkdir()
    for content in ("", "{", "[]", '{"host": "a"}'):
        (tmp_path / "claims" / "a.json").write_text(content)
        claims = Claims(open_location(tmp_path))
        assert claims.take("a")


def test_claims_are_given_back_at_the_end(tmp_path):
    with Claims(open_location(tmp_path)) as claims:
        assert claims.take("a")
        assert claims.take("b")
        assert not claims.take("b")
        claims.release("a")
        assert list(files(tmp_path, "claims")) == ["b.json"]
    assert files(tmp_path, "claims") == {}


def test_a_run_waits_for_a_shard_that_another_one_is_at(tmp_path):
    """The other run dies without finishing it; then this one does it."""
    recipe = demo(["input_x_grad"], ["a"])
    go(tmp_path / "fresh", recipe=recipe, limit=5)
    (name,) = files(tmp_path / "fresh")
    owner = replace(Owner.here(), host="elsewhere", beat=Owner.here().beat - SILENCE + 0.5)
    claim(tmp_path / "out", name.removesuffix(".parquet"), owner)
    assert go(tmp_path / "out", recipe=recipe, limit=5).measured == 4 * 5
    assert files(tmp_path / "out") == files(tmp_path / "fresh")
