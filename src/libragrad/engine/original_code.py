"""Compiled regions run as the code that they were made of, for a while."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import torch


class OriginalCode:
    """A compiled region would hide its operations: run the code that it was made of instead.

    PyTorch keeps this choice for the process and not for a thread, so the first to enter makes it
    and the last to leave, whoever that is, takes it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._choice = ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._choice.enter_context(torch.compiler.set_stance("force_eager"))
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._choice.close()


ORIGINAL_CODE = OriginalCode()
