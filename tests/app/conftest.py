"""The page as people start it, and Debian's Chromium to look at it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.app.visitor import Visitor
from tests.cli.running import MOSAIC

CHROMIUM = shutil.which("chromium")
PATIENCE = 120


class Server:
    """`libragrad app` in a process of its own."""

    def __init__(self, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.log = log
        with log.open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "libragrad", "app", *MOSAIC, "--port", str(self.port)],
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )

    def wait(self) -> None:
        """Until it answers."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urlopen(self.address, timeout=5):
                    return
            except (URLError, OSError):
                time.sleep(0.1)
        raise AssertionError(f"the page did not start:\n{self.log.read_text()}")

    def resident(self) -> int:
        """The most memory that the process ever held, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("app") / "log.txt")
    try:
        started.wait()
        yield started
    finally:
        started.process.terminate()
        started.process.wait(30)
    log = started.log.read_text()
    # Gradio itself refuses forged paths, and tells its log where.
    assert log.count("Traceback") == log.count("is not in the cache folder"), log


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with sync_api.sync_playwright() as playwright:
        # Chromium's own sandbox cannot be had by root, as whom containers run the tests.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(server, chromium):
    """Makes visitors, each with a session of their own; an error in a page fails the test."""
    visitors: list[Visitor] = []

    def new(width: int = 1280, height: int = 900, *, touch: bool = False) -> Visitor:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, has_touch=touch, accept_downloads=True
        )
        visitors.append(Visitor(context.new_page(), server.address))
        return visitors[-1]

    yield new
    for visitor in visitors:
        visitor.page.context.close()
        assert visitor.wrong == []


@pytest.fixture
def visitor(visit) -> Visitor:
    return visit()
