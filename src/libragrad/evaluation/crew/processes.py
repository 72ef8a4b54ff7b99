"""A crew of processes on this machine, each with a model of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

import pyarrow as pa
import torch

from libragrad.evaluation.crew.crew import Crew, Hand, HandLostError
from libragrad.evaluation.measure import Measurer
from libragrad.evaluation.plan import Shard

__all__ = ["process_crew"]


def process_crew(make: Callable[[], Measurer], workers: int) -> Crew:
    """So many processes; `make` is called in each and must be picklable."""
    # A fresh process for each worker: forking one that has threads or a device is not safe.
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    threads = max(1, (os.cpu_count() or 1) // workers)
    return Crew(workers, lambda: _ProcessHand(context, make, threads), _first_done)


class _ProcessHand:
    def __init__(self, context: Any, make: Callable[[], Measurer], threads: int) -> None:
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make, threads), daemon=True)
        self._process.start()
        theirs.close()  # the pipe then ends when the process does

    def start(self, shard: Shard) -> None:
        try:
            self.pipe.send(shard)
        except BrokenPipeError:
            return  # the process is dead: the pipe counts as done, and `result` says so

    def result(self) -> pa.Table:
        try:
            answer = self.pipe.recv()
        except (EOFError, ConnectionResetError) as error:
            self._process.join()
            raise HandLostError(f"exit code {self._process.exitcode}") from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.pipe.close()
        self._process.kill()
        self._process.join()


def _first_done(busy: Sequence[Hand]) -> Hand:
    pipes = {hand.pipe: hand for hand in busy if isinstance(hand, _ProcessHand)}
    return pipes[next(iter(wait(list(pipes))))]


def _serve(pipe: Connection, make: Callable[[], Measurer], threads: int) -> None:
    """Measure what comes through the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's to answer
    torch.set_num_threads(threads)
    measurer = make()
    while True:
        try:
            shard = pipe.recv()
        except EOFError:
            return
        try:
            answer: Any = measurer.measure(shard)
        except Exception as error:
            answer = _portable(error)
        try:
            pipe.send(answer)
        except BrokenPipeError:
            return


def _portable(error: Exception) -> Exception:
    """The error in a form that every process can read."""
    return RuntimeError(f"{type(error).__name__}: {error}")
