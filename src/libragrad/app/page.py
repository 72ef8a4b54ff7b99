"""The page: which event asks what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import gradio as gr

from libragrad.app.answers import Answers, notice
from libragrad.app.controls import Controls, build, resource
from libragrad.app.downloads import parcel
from libragrad.app.limits import Limits
from libragrad.app.options import look_of
from libragrad.app.session import Session
from libragrad.app.studio import Studio
from libragrad.data import load_dataset
from libragrad.errors import LibraGradError
from libragrad.models.loaded import LoadedModel

__all__ = ["page"]

_EXAMPLES = 5


def page(loaded: LoadedModel, limits: Limits = Limits()) -> gr.Blocks:  # noqa: B008 - frozen
    """The page for a model that sees pictures."""
    studio = Studio(loaded)
    examples = list(load_dataset("builtin:mosaic"))[:_EXAMPLES]
    blocks = gr.Blocks(title="LibraGrad", analytics_enabled=False)
    with blocks:
        controls = build(studio, limits, examples)
        answers = Answers(studio, limits, examples)
        running = _questions(controls, answers)
        _looks(controls, answers)
        _files(controls)
        controls.cancel.click(
            partial(notice, "Cancelled."),
            outputs=controls.notice,
            cancels=running,
            queue=False,
            api_visibility="private",
        )
    blocks.queue(max_size=limits.waiting, default_concurrency_limit=1)
    return blocks


def _questions(c: Controls, answers: Answers) -> list[Any]:
    """The events that run the model for long, and can be cancelled."""
    asked = (answers.asked, [c.session, c.targets, *c.options])
    table: list[tuple[Any, Callable[..., Iterator[Any]], list[Any]]] = [
        (c.another.submit, answers.named, [c.session, c.another, c.targets, *c.options]),
        (c.targets.input, *asked),
        (c.methods.input, *asked),
        (c.preset.input, *asked),
        (c.output.input, *asked),
    ]
    if answers.studio.reads:
        again = (answers.prompted, [c.session, c.prompts, *c.options])
        table += [(c.explain.click, *again), (c.prompts.submit, *again)]
    else:
        table.append((c.explain.click, *asked))
    chosen = [
        _on(event, work, [c.prompts, *c.options], c.answer, "multiple")
        for event, work in (
            (c.upload.upload, answers.uploaded),
            (c.upload.select, answers.example),
        )
    ]
    return chosen + [_on(event, work, inputs, c.answer) for event, work, inputs in table]


def _looks(c: Controls, answers: Answers) -> None:
    """What the model is not asked for, or only once."""
    _on(c.maps.input, answers.deleted, [c.session, *c.options], c.answer, "multiple")
    for control in (c.recipe, c.scale):
        _on(control.input, answers.redrawn, [c.session, *c.options], c.answer)
    for control, name, unit in ((c.opacity, "opacity", ""), (c.plain, "plain", "%")):
        control.input(fn=None, inputs=control, js=_set(name, unit), api_visibility="private")
    c.restore.click(fn=None, js="() => window.dispatchEvent(new Event('lg-restore'))")


def _files(c: Controls) -> None:
    for kind, button in c.files.items():
        inputs = [c.session, c.recipe, c.opacity, c.scale]
        made = _on(button.click, partial(_parcel, kind), inputs, [c.parcel, c.notice])
        made.then(fn=None, inputs=c.parcel, js=resource("downloads.js"), api_visibility="private")


def _parcel(
    kind: str, session: Session | None, recipe: object, opacity: object, scale: object
) -> tuple[str, str]:
    try:
        return parcel(kind, session, look_of(recipe, opacity), str(scale)).packed(), ""
    except LibraGradError as error:
        return "", notice(str(error), wrong=True)


def _on(
    event: Any,
    work: Callable[..., Any],
    inputs: list[Any],
    outputs: list[Any],
    mode: Literal["always_last", "multiple"] = "always_last",
) -> Any:
    """One at a time for the one model, and for each visitor the last that was asked.

    Events that carry data of their own, a picture or patches, take the mode "multiple": the other
    one would forget the data.
    """
    return event(
        work,
        inputs=inputs,
        outputs=outputs,
        preprocess=False,  # the answers check for themselves what comes
        concurrency_id="model",
        concurrency_limit=1,
        trigger_mode=mode,
        show_progress="hidden",
        api_visibility="private",
    )


def _set(name: str, unit: str) -> str:
    """JavaScript that hands a slider's value to the style of the maps."""
    return f"(v) => document.documentElement.style.setProperty('--lg-{name}', v + '{unit}')"
