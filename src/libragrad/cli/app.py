"""`libragrad app`: the page in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from libragrad.cli.options import DEFAULT_MODEL, AllowPickle, AsJson, Device, Model, Weights
from libragrad.errors import MissingExtraError

__all__ = ["app"]


def app(
    model: Model = DEFAULT_MODEL,
    weights: Weights = None,
    allow_pickle: AllowPickle = False,
    device: Device = "auto",
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where it listens; 0.0.0.0 lets others in.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, metavar="N", help="On which port.")] = 7860,
    as_json: AsJson = False,
) -> None:
    """Open the page: upload a picture, pick classes, compare methods, delete patches.

    It listens to this machine alone unless told otherwise. Ctrl-C ends it.

    [bold]Examples[/bold]
      libragrad app
      libragrad app --model builtin:mosaic
      libragrad app --host 0.0.0.0 --port 8080
    """
    if find_spec("gradio") is None:
        raise MissingExtraError(
            "the page needs the package gradio, which is not installed; "
            "run: pip install 'libragrad[app]'"
        )
    from libragrad.app import serve
    from libragrad.cli.choices import find_device
    from libragrad.cli.screen import answer
    from libragrad.cli.subject import load_on, sees

    loaded = load_on(model, weights, allow_pickle, find_device(device))
    sees(loaded)
    address = f"http://{host}:{port}"
    if as_json:
        answer({"address": address})
    else:
        typer.echo(f"{address}   (Ctrl-C ends it)")
    serve(loaded, host=host, port=port)
