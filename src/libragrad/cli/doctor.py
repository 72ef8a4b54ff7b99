"""`libragrad doctor`: what is installed, what is missing, and the command that installs it."""

from __future__ import annotations

from typing import Any

import typer
from rich.markup import escape

from libragrad.cli.options import AsJson

__all__ = ["doctor"]


def doctor(as_json: AsJson = False) -> None:
    """Say what is installed, on which devices it can run, and what is missing.

    The exit code is 1 only if the core is broken: PyTorch cannot be imported,
    or the account of a small network does not balance.

    [bold]Examples[/bold]
      libragrad doctor
      libragrad doctor --json
    """
    from libragrad.cli.checkup import checkup
    from libragrad.cli.screen import answer

    found = checkup()
    if as_json:
        answer(found)
    else:
        _print(found)
    raise typer.Exit(int(found["core"] is not None))


def _print(found: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.print("[bold]versions[/bold]")
    for package, version in found["versions"].items():
        console.print(f"  {package:<18}{version}")
    console.print("[bold]devices[/bold]")
    for device in found["devices"]:
        console.print(f"  {escape(device)}")
    console.print("[bold]extras[/bold]")
    for extra in found["extras"]:
        console.print(f"  {extra['name']:<18}{extra['purpose']}")
        if extra["missing"]:
            missing, command = ", ".join(extra["missing"]), escape(extra["command"])
            console.print(f"  {'':<18}[yellow]missing {missing}[/yellow]; run: {command}")
    console.print("[bold]torchvision[/bold]")
    console.print(f"  {escape(found['torchvision'])}")
    console.print("[bold]core[/bold]")
    if found["core"] is None:
        console.print("  [green]sound[/green]: the account of a small network balances")
    else:
        console.print(f"  [red]broken[/red]: {escape(found['core'])}")
