"""Who holds a claim: a process of some machine, and whether it still lives."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["SILENCE", "Owner"]

SILENCE = 90.0
"""After so many seconds without a sign of life the owner of another machine counts as dead."""


@dataclass(frozen=True)
class Owner:
    """A process, as its claims name it.

    Attributes:
        host: the machine.
        process: the process id.
        born: when it started, in the machine's own ticks; tells it from a later one of that id.
        beat: its last sign of life, seconds since 1970.
    """

    host: str
    process: int
    born: str
    beat: float

    @classmethod
    def here(cls) -> Owner:
        """This process, now."""
        process = os.getpid()
        return cls(socket.gethostname(), process, _state(process)[1], time.time())

    @classmethod
    def read(cls, fields: object) -> Owner | None:
        """The owner in a claim's JSON; none if the claim is damaged.

        >>> Owner.read({"host": "a"}) is None
        True
        """
        try:
            return cls(**fields)  # type: ignore[arg-type]
        except TypeError:
            return None

    def fields(self) -> dict[str, object]:
        """As JSON."""
        return asdict(self)

    def lives(self) -> bool:
        """Whether the process still runs, or has given a sign of life lately.

        >>> Owner.here().lives()
        True
        """
        if self.host == socket.gethostname() and os.name == "posix":
            return _state(self.process) == (True, self.born)
        return time.time() - self.beat < SILENCE

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}"


def _state(process: int) -> tuple[bool, str]:
    """Whether a process of this machine runs, and when it started where that can be known."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return _answers(process), ""
    # The second field is the program's name in parentheses and may hold anything.
    status, *rest = text.rpartition(")")[2].split()
    return status not in "ZX", rest[18]


def _answers(process: int) -> bool:
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)  # signal 0 is never delivered: it asks whether it could be
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
