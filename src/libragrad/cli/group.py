"""The one place where an error becomes a sentence and an exit code."""

from __future__ import annotations

import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from libragrad.cli.screen import complain, say
from libragrad.errors import LibraGradError

__all__ = ["Verbs"]


class Verbs(TyperGroup):
    """Runs a verb. What libragrad raises on purpose is one sentence; `--debug` shows where from."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Let `--debug` stand anywhere."""
        if "--debug" in args:
            args = ["--debug", *(arg for arg in args if arg != "--debug")]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; 1 is the exit code of all that fails, 130 of what was stopped."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _warn
                return super().invoke(ctx)
        except BrokenPipeError:  # the reader of our output has seen enough
            raise
        except (LibraGradError, OSError) as error:
            if ctx.params["debug"]:
                raise
            complain(_sentence(error))
            raise typer.Exit(1) from error
        except KeyboardInterrupt as stopped:
            say("stopped")
            raise typer.Exit(130) from stopped


def _sentence(error: Exception) -> str:
    """What went wrong; an error of the system itself names its file and its reason."""
    if isinstance(error, OSError) and not isinstance(error, LibraGradError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror.lower()}"
    return str(error)


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    say(f"[yellow]warning[/yellow] {str(message).partition(chr(10))[0]}")
