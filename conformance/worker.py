"""A process that judges case after case: a crash or an endless run loses one case only.

The libraries take seconds to import, so a process lives for many cases. Parent and worker speak
over a pipe: a (zoo, name) goes in, a row comes out. A worker that dies, or that takes too long and
is killed, is replaced at the next case.
"""

from __future__ import annotations

import multiprocessing
import resource
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

CASES_PER_PROCESS = 100
HEADROOM = 4


class Worker:
    """A handle on a process that is started when it is needed."""

    def __init__(self, memory: float, timeout: float, native: bool = False) -> None:
        self.memory = memory
        self.timeout = timeout
        self.native = native
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._left = 0

    def judge(self, zoo: str, name: str) -> dict[str, Any]:
        """Return the row of one case; a lost process gives the verdict `lost`."""
        pipe = self._start()
        self._left -= 1
        try:
            pipe.send((zoo, name))
            if not pipe.poll(self.timeout):
                return self._lose(zoo, name, f"no verdict after {self.timeout:.0f} s")
            row: dict[str, Any] = pipe.recv()
            return row
        except (EOFError, ConnectionError):
            assert self._process is not None
            self._process.join(5)
            return self._lose(zoo, name, f"the process ended with code {self._process.exitcode}")

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None

    def _start(self) -> Connection:
        if self._pipe is None or self._left <= 0:
            self.close()
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            arguments = (theirs, self.memory, self.native)
            self._process = context.Process(target=_serve, args=arguments, daemon=True)
            self._process.start()
            theirs.close()
            self._left = CASES_PER_PROCESS
        return self._pipe

    def _lose(self, zoo: str, name: str, reason: str) -> dict[str, Any]:
        self.close()
        return {"zoo": zoo, "name": name, "verdict": "lost", "detail": reason}


def _serve(pipe: Connection, memory: float, native: bool) -> None:
    import gc
    import warnings

    import torch

    from conformance import verdict, zoos

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    limit = int(HEADROOM * memory)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    while True:
        try:
            zoo, name = pipe.recv()
        except EOFError:
            return
        build: Any = partial(zoos.load(zoo).build, memory=memory)
        pipe.send(verdict.judge(zoo, name, build, native).as_json())
        gc.collect()
