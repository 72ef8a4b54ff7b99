"""The parts of the page, in the order in which they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

import gradio as gr

from libragrad.app.downloads import FILES
from libragrad.app.limits import Limits
from libragrad.app.studio import Studio
from libragrad.app.upload import zone
from libragrad.data.record import Record
from libragrad.methods.table import METHODS
from libragrad.presets import LIBRA, PRESETS, STANDARD

__all__ = ["Controls", "build", "resource"]

_PROMPTS = "a photo of clothes\na photo of an animal"
_SCALES = [("one for all maps", "all"), ("one a method", "method"), ("one a map", "map")]


@dataclass(frozen=True)
class Controls:
    """What events come from and go to."""

    session: Any
    upload: Any
    notice: Any
    prompts: Any
    targets: Any
    another: Any
    methods: Any
    preset: Any
    output: Any
    recipe: Any
    scale: Any
    opacity: Any
    plain: Any
    explain: Any
    cancel: Any
    prediction: Any
    restore: Any
    maps: Any
    python: Any
    command: Any
    parcel: Any
    files: dict[str, Any]

    @property
    def options(self) -> list[Any]:
        """Those that `Options` is made of."""
        return [self.methods, self.preset, self.output, self.recipe, self.scale]

    @property
    def answer(self) -> list[Any]:
        """Those that an `Answer` changes."""
        return [
            self.session,
            self.notice,
            self.targets,
            self.prediction,
            self.maps,
            self.python,
            self.command,
        ]


def build(studio: Studio, limits: Limits, examples: Sequence[Record]) -> Controls:
    """Everything, within the Blocks that are open."""
    made: dict[str, Any] = {"session": gr.State(None)}
    gr.HTML(_head(studio), css_template=resource("head.css"))
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            _left(made, studio, limits, examples)
        with gr.Column(scale=5, min_width=300):
            _right(made)
    return Controls(**made)


def resource(name: str) -> str:
    """The text of a file of this package."""
    return files("libragrad.app").joinpath(name).read_text(encoding="utf-8")


def _head(studio: Studio) -> str:
    manifest = studio.loaded.manifest
    return (
        "<h1>Why did the model see this?</h1>"
        f"<p>{escape(f'{manifest.name} ({manifest.weights})')}, explained by LibraGrad. Below each "
        "map stands how much of the answer it accounts for.</p>"
    )


def _left(made: dict[str, Any], studio: Studio, limits: Limits, examples: Sequence[Record]) -> None:
    made["upload"] = gr.HTML(
        zone(limits, examples),
        css_template=resource("upload.css"),
        js_on_load=resource("upload.js"),
        elem_id="upload",
    )
    made["notice"] = gr.HTML("", elem_id="notice", css_template=resource("notice.css"))
    reads = studio.reads
    made["prompts"] = gr.Textbox(
        _PROMPTS, label="Prompts, one a line", lines=3, visible=reads, elem_id="prompts"
    )
    made["targets"] = gr.CheckboxGroup(
        [], label="Explain these classes", visible=not reads, elem_id="targets"
    )
    made["another"] = gr.Textbox(
        label="Another class",
        placeholder="its label or index, then Enter",
        visible=not reads,
        elem_id="another",
        max_lines=1,
    )
    made["methods"] = gr.Dropdown(
        [(method.title, key) for key, method in METHODS.items()],
        value=["fullgrad+"],
        multiselect=True,
        label="Methods, side by side",
        elem_id="methods",
    )
    with gr.Row():
        made["explain"] = gr.Button("Explain", variant="primary", elem_id="explain", min_width=80)
        made["cancel"] = gr.Button("Cancel", elem_id="cancel", min_width=80)
    with gr.Accordion("More", open=False):
        presets = [(p.name, name) for name, p in PRESETS.items() if p != STANDARD]
        made["preset"] = gr.Dropdown(presets, value=LIBRA.name, label="Backward pass")
        made["output"] = gr.Radio(
            ["logit", "probability"], value="logit", label="What is explained"
        )
        made["scale"] = gr.Radio(_SCALES, value="method", label="Colour scale", elem_id="scale")


def _right(made: dict[str, Any]) -> None:
    made["prediction"] = gr.HTML(
        "", elem_id="prediction", css_template=resource("prediction.css"), label="Prediction"
    )
    made["restore"] = gr.Button("Restore all patches", elem_id="restore", size="sm")
    with gr.Row():
        made["plain"] = gr.Slider(
            0,
            100,
            0,
            step=1,
            label="Uncover the plain gradient (%)",
            elem_id="plain",
            min_width=220,
        )
        made["opacity"] = gr.Slider(
            0, 1, 0.65, step=0.05, label="Opacity", elem_id="opacity", min_width=220
        )
        made["recipe"] = gr.Radio(
            [
                ("for the class", "paper"),
                ("signed", "signed"),
                ("absolute", "absolute"),
                ("raw", "raw"),
            ],
            value="paper",
            label="Colours",
            elem_id="recipe",
            min_width=260,
        )
    made["maps"] = gr.HTML(
        "",
        elem_id="maps",
        css_template=resource("maps.css"),
        js_on_load=resource("maps.js"),
        min_height=240,
    )
    with gr.Row():
        made["files"] = {
            kind: gr.Button(f"Save {kind}", elem_id=f"save-{kind.lower()}", min_width=90, size="md")
            for kind in FILES
        }
    made["parcel"] = gr.Textbox(visible="hidden", elem_id="parcel")
    with gr.Accordion("Make this again", open=False, elem_id="again"):
        made["command"] = _text("Command line")
        made["python"] = _text("Python")


def _text(label: str) -> Any:
    return gr.Textbox(
        label=label,
        lines=2,
        max_lines=40,
        interactive=False,
        buttons=["copy"],
        elem_classes="program",
    )
