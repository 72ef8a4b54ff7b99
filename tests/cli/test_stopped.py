"""Ctrl-C in the middle of a run: what is done is kept, and listed."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys

from tests.cli.running import MOSAIC, pictures


def test_ctrl_c_keeps_what_is_done(tmp_path):
    first, second = pictures(tmp_path / "in")
    second.write_bytes(b"PK")  # skipped aloud, which tells that the first is done
    given = [first, second, "builtin:mosaic", "--out", tmp_path / "out", "--batch-size", 1]
    run = subprocess.Popen(
        [sys.executable, "-m", "libragrad", "explain", *MOSAIC, *map(str, given), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr is not None
    assert run.stderr.readline().startswith("skipped ")
    run.send_signal(signal.SIGINT)
    stdout, stderr = run.communicate(timeout=60)
    assert run.returncode == 130
    found = json.loads(stdout)
    assert found["stopped"] is True
    files = [picture["file"] for picture in found["pictures"]]
    assert 1 <= len(files) < 300
    assert files[0] == str(tmp_path / "out" / "mosaic-0.png")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]+)"', page)
    assert [str(tmp_path / "out" / link) for link in links] == files
    assert all((tmp_path / "out" / link).read_bytes().startswith(b"\x89PNG") for link in links)
    assert stderr.endswith("pictures are done, and kept\n")
    assert "Traceback" not in stderr
