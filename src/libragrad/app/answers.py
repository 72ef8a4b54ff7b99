"""What the page answers to each thing that a visitor does, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple

import gradio as gr

from libragrad.app.comparison import Question, compared
from libragrad.app.limits import Limits
from libragrad.app.maps import maps
from libragrad.app.options import Options, classes_of, text_of
from libragrad.app.prediction import choices, prediction, top
from libragrad.app.session import Session
from libragrad.app.snippet import command, python
from libragrad.app.studio import Seen, Studio
from libragrad.app.upload import received
from libragrad.cli.choices import index_or_label
from libragrad.data.record import Record
from libragrad.errors import InputError, LibraGradError
from libragrad.targets import goals

__all__ = ["Answer", "Answers", "notice", "sent"]

Steps = Iterator["Answer"]


class Answer(NamedTuple):
    """What changes on the page; the rest stays."""

    session: Any = gr.skip()
    notice: Any = gr.skip()
    targets: Any = gr.skip()
    prediction: Any = gr.skip()
    maps: Any = gr.skip()
    python: Any = gr.skip()
    command: Any = gr.skip()


@dataclass(frozen=True)
class Answers:
    """Answers for all visitors; what belongs to one of them is in the session."""

    studio: Studio
    limits: Limits
    examples: Sequence[Record]

    def uploaded(self, event: gr.EventData, prompts: object, *controls: Any) -> Iterator[Answer]:
        """Take the bytes that the browser sent."""

        def steps() -> Steps:
            picture, name = received(sent(event, "name"), sent(event, "data"), self.limits)
            yield from self._begin(self.studio.see(picture, name), prompts, Options.read(*controls))

        yield from _told(steps())

    def example(self, event: gr.EventData, prompts: object, *controls: Any) -> Iterator[Answer]:
        """Take a picture of the package."""

        def steps() -> Steps:
            index = sent(event, "example")
            if type(index) is not int or not 0 <= index < len(self.examples):
                raise InputError("there is no such example")
            record = self.examples[index]
            seen = self.studio.see(record.picture(), f"builtin:{record.id}")
            yield from self._begin(seen, prompts, Options.read(*controls))

        yield from _told(steps())

    def prompted(
        self, session: Session | None, prompts: object, *controls: Any
    ) -> Iterator[Answer]:
        """Compare the same picture with other texts."""

        def steps() -> Steps:
            yield from self._begin(_there(session).seen, prompts, Options.read(*controls))

        yield from _told(steps())

    def asked(self, session: Session | None, targets: object, *controls: Any) -> Iterator[Answer]:
        """Explain the classes that are chosen."""

        def steps() -> Steps:
            yield from self._explained(session, targets, Options.read(*controls))

        yield from _told(steps())

    def named(
        self, session: Session | None, text: object, targets: object, *controls: Any
    ) -> Iterator[Answer]:
        """Add a class by its label or index, and explain it too."""

        def steps() -> Steps:
            here = _there(session)
            wanted = index_or_label(text_of(text, self.limits.prompt_letters))
            goal = goals(wanted, here.whole.logits, labels=here.labels)
            found = [] if goal.indices is None else goal.indices.tolist()
            chosen = list(dict.fromkeys([*classes_of(targets, here.before.z.shape[1]), *found]))
            yield Answer(targets=gr.CheckboxGroup(choices(here, chosen), value=chosen))
            yield from self._explained(here, chosen, Options.read(*controls))

        yield from _told(steps())

    def redrawn(self, session: Session | None, *controls: Any) -> Iterator[Answer]:
        """Draw the same values with other colours."""

        def steps() -> Steps:
            if session is not None:
                yield self._shown(session, Options.read(*controls))

        yield from _told(steps())

    def deleted(
        self, event: gr.EventData, session: Session | None, *controls: Any
    ) -> Iterator[Answer]:
        """Ask again without the patches that are marked."""

        def steps() -> Steps:
            patches = sent(event, "patches")
            if not isinstance(patches, list):
                raise InputError("patches are a list of numbers")
            now = _there(session).without(patches)
            written = self._shown(now, Options.read(*controls))
            yield written._replace(maps=gr.skip(), notice=notice(""))

        yield from _told(steps())

    def _begin(self, seen: Seen, prompts: object, options: Options) -> Steps:
        texts = self._prompts(prompts)
        yield Answer(notice=notice(f"Looking at {seen.name} …"))
        session = Session.begin(seen, self.studio.witness(seen, texts))
        chosen = list(range(len(texts))) if texts else top(session.before, 1)
        boxes = gr.CheckboxGroup(choices(session, chosen), value=chosen)
        yield self._shown(session, options)._replace(targets=boxes)
        yield from self._explained(session, chosen, options)

    def _prompts(self, given: object) -> tuple[str, ...]:
        if not self.studio.reads:
            return ()
        text = text_of(given, self.limits.maps * self.limits.prompt_letters)
        lines = tuple(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
        if not lines:
            raise InputError("this model compares pictures with texts: type one prompt a line")
        if len(lines) > self.limits.maps or max(map(len, lines)) > self.limits.prompt_letters:
            raise InputError(
                f"at most {self.limits.maps} prompts of {self.limits.prompt_letters} letters are "
                "compared: type fewer, or shorter ones"
            )
        return lines

    def _explained(self, session: Session | None, targets: object, options: Options) -> Steps:
        here = _there(session)
        classes = classes_of(targets, here.before.z.shape[1])
        self.limits.check(options.methods, classes)
        question = Question(options.methods, classes, options.preset, options.output)
        yield Answer(notice=notice("Explaining …"))
        here = replace(here, question=question, comparisons=())
        for one in compared(question, here.seen, here.witness):
            here = replace(here, comparisons=(*here.comparisons, one))
            yield self._shown(here, options)
        yield Answer(notice=notice("Deleting patches, the most influential first …"))
        curves = tuple(one.with_curves(here.witness, here.whole) for one in here.comparisons)
        here = replace(here, comparisons=curves)
        yield self._shown(here, options)._replace(notice=notice(""))

    def _shown(self, session: Session, options: Options) -> Answer:
        loaded = self.studio.loaded
        return Answer(
            session=session,
            prediction=prediction(session),
            maps=maps(session, options.recipe, options.scale),
            python=python(session, loaded, options.recipe),
            command=command(session, loaded, options.recipe),
        )


def notice(text: str, *, wrong: bool = False) -> str:
    """A line for people: what is going on, or what is wrong.

    >>> notice("a < b", wrong=True)
    '<p role="alert">a &lt; b</p>'
    """
    return f'<p role="{"alert" if wrong else "status"}">{escape(text)}</p>' if text else ""


def sent(event: gr.EventData, name: str) -> Any:
    """What the browser sent under that name; None if it sent something else."""
    try:
        return getattr(event, name)
    except (AttributeError, TypeError):
        return None


def _told(steps: Steps) -> Steps:
    """The steps, and what is wrong in the end, if anything is."""
    try:
        yield from steps
    except LibraGradError as error:
        yield Answer(notice=notice(str(error), wrong=True))
    except (RuntimeError, MemoryError) as error:  # PyTorch's own, above all of memory
        yield Answer(notice=notice(f"the model could not answer: {error}", wrong=True))


def _there(session: Session | None) -> Session:
    if session is None:
        raise InputError("there is no picture yet: choose one")
    return session
