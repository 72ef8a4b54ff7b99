"""The Python and the command line that make again what the page shows."""

from __future__ import annotations

import shlex

from libragrad.app.comparison import Question
from libragrad.app.session import Session
from libragrad.errors import TargetError
from libragrad.models.loaded import LoadedModel, Manifest
from libragrad.presets import LIBRA
from libragrad.targets.names import find_label, short_name

__all__ = ["command", "python"]

_OWN = ("pretrained", "built in")
_BUILT_IN = "builtin:"


def command(session: Session, loaded: LoadedModel, recipe: str) -> str:
    """The line for a shell; patches are deleted in Python alone."""
    question = session.question
    if question is None:
        return ""
    name = session.seen.name
    picture = f"./{name}" if name.startswith("-") else name
    words = ["libragrad", "explain", picture, "--model", loaded.manifest.name]
    if loaded.manifest.weights not in _OWN:
        words += ["--weights", loaded.manifest.weights]
    for prompt in session.witness.prompts:
        words += ["--prompt", prompt]
    if not session.witness.prompts:
        for target in _targets(session, question):
            words += ["--target", str(target)]
    for method in question.methods:
        words += ["--method", method.key]
    if question.preset != LIBRA:
        words += ["--preset", question.preset.name.lower()]
    if question.output != "logit":
        words += ["--output", question.output]
    if recipe != "paper":
        words += ["--recipe", recipe]
    return shlex.join([*words, "--compare", "--deletion", "--out", "maps.html"])


def python(session: Session, loaded: LoadedModel, recipe: str) -> str:
    """The program."""
    question = session.question
    if question is None:
        return ""
    prompts = session.witness.prompts
    model = "PromptModel(loaded.model, prompts, tokenizer=loaded.tokenizer)"
    targets = list(range(len(prompts))) if prompts else _targets(session, question)
    lines = [
        *_imports(session),
        "",
        f"loaded = load({_loading(loaded.manifest)})",
        f"x = loaded.preprocess({_picture(session.seen.name)})[None]",
        *([f"prompts = {list(prompts)!r}"] if prompts else []),
        f"model = {model if prompts else 'loaded.model'}",
        f"for preset in (libragrad.STANDARD, libragrad.PRESETS[{question.preset.name!r}]):",
        "    maps = libragrad.explain(",
        "        model,",
        "        x,",
        f"        targets={targets!r},",
        f"        methods={[method.key for method in question.methods]!r},",
        "        preset=preset,",
        f"        output={question.output!r},",
        *([] if prompts else ["        labels=loaded.labels,"]),
        "    )",
        "    print(maps)",
        f'    maps.save(f"{{preset.name}}.html", recipe={recipe!r})',
        *_deletion(session),
    ]
    return "\n".join(lines) + "\n"


def _imports(session: Session) -> list[str]:
    example = session.seen.name.startswith(_BUILT_IN)
    return [
        *([] if example else ["from pathlib import Path", ""]),
        *(["import torch", ""] if session.deleted else []),
        "import libragrad",
        "from libragrad.data import load_dataset"
        if example
        else "from libragrad.data.picture_file import open_picture",
        *(["from libragrad.masking import masker"] if session.deleted else []),
        "from libragrad.models.loading import load",
        *(["from libragrad.targets import PromptModel"] if session.witness.prompts else []),
    ]


def _loading(manifest: Manifest) -> str:
    return ", ".join(map(repr, [manifest.name, *_file(manifest)]))


def _file(manifest: Manifest) -> list[str]:
    return [] if manifest.weights in _OWN else [manifest.weights]


def _picture(name: str) -> str:
    if name.startswith(_BUILT_IN):
        dataset, _, number = name.rpartition("-")
        return f"load_dataset({dataset!r})[{int(number)}].picture()"
    return f"open_picture(Path({name!r}))"


def _deletion(session: Session) -> list[str]:
    if not session.deleted:
        return []
    return [
        "",
        "some = masker(model, x)",
        f"deleted = {set(session.deleted)!r}",
        "keep = torch.tensor([[p for p in range(some.patches) if p not in deleted]])",
        "print(some.predict(x, keep).softmax(-1))",
    ]


def _targets(session: Session, question: Question) -> list[str | int]:
    """Labels where they name their class alone, else indices."""
    labels = session.witness.explainer.labels
    return [_label(index, labels) for index in question.targets]


def _label(index: int, labels: object) -> str | int:
    if not isinstance(labels, tuple) or len(labels) == 1:  # one logit is two classes
        return index
    name = short_name(labels[index])
    try:
        return name if find_label(name, labels) == index else index
    except TargetError:
        return index
