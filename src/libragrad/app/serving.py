"""The server of the page: this machine alone may ask, unless told otherwise."""

from __future__ import annotations

import gradio as gr
from starlette.middleware import Middleware

from libragrad.app.controls import resource
from libragrad.app.limits import Limits, SmallBodies
from libragrad.app.page import page
from libragrad.errors import InputError
from libragrad.models.loaded import LoadedModel

__all__ = ["serve"]


def serve(
    loaded: LoadedModel,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    wait: bool = True,
) -> gr.Blocks:
    """Serve the page, until Ctrl-C if `wait`; `port=None` takes a free one.

    Returns the Gradio page, which knows its address (`local_url`) and how to `close()`.
    """
    blocks = page(loaded, limits)
    try:
        blocks.launch(
            server_name=host,
            server_port=port,
            share=False,
            inbrowser=False,
            quiet=True,
            prevent_thread_lock=not wait,
            footer_links=[],
            ssr_mode=False,
            run_history=False,
            max_file_size=1,  # the page needs no files: pictures come within their event
            state_session_capacity=limits.visitors,
            app_kwargs={"middleware": [Middleware(SmallBodies, most=limits.body_bytes)]},
            theme=_theme(),
            css=resource("page.css"),
        )
    except OSError as error:
        raise InputError(
            f"nobody can listen at {host}, port {port}: it is taken, or not of this machine; "
            "choose another"
        ) from error
    return blocks


def _theme() -> gr.themes.Base:
    """Letters of the visitor's own system, so that no other server is asked for any."""
    theme = gr.themes.Base(font=["system-ui", "sans-serif"], font_mono=["monospace"])
    return theme.set(
        body_text_color_subdued="*neutral_600", body_text_color_subdued_dark="*neutral_300"
    )
