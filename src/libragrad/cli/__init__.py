"""The command line: a verb a job, each in a file of its own.

Nothing here imports PyTorch before a verb has work for it, so that `--help` comes at once.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper

__all__ = ["main"]


def main() -> None:
    """Run `libragrad`: what the console script calls."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # an old terminal may not know Σ
    try:
        from libragrad.cli.application import application
    except ModuleNotFoundError as absent:
        package = (absent.name or "").partition(".")[0]
        if package not in ("typer", "click", "rich"):
            raise
        sys.exit(
            f"error: the command line needs the package {package}, which is not installed; "
            "run: pip install 'libragrad[cli]'"
        )
    application(prog_name="libragrad")
