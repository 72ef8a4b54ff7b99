"""Explanations of texts, as a page and in a terminal."""

from __future__ import annotations

import io
import re

import pytest
import torch

from libragrad.errors import InputError
from libragrad.picture import Limits, show_words, words_page, words_terminal
from libragrad.picture.ansi import TRUE_COLOURS
from libragrad.picture.words import AGAINST, FOR, strengths
from tests.picture.explanations import made
from tests.picture.test_page import Reader

WORDS = ["The ", "zebra", "'s ", "<b>", " stripes\n"]
TEXT = made(("striped", "plain"), patches=(1, 5), size=None)


def test_every_value_is_in_the_page_beside_its_token():
    reader = Reader(words_page(TEXT, WORDS))
    tokens = [span for span in reader.all("span") if "data-value" in span]
    values = torch.tensor([float(token["data-value"]) for token in tokens]).reshape(2, 5)
    torch.testing.assert_close(values, TEXT.map[:, 0], rtol=5e-6, atol=0)
    assert "<b>" in reader.texts["span"]
    assert reader.texts["h2"] == ["striped", "plain"]


def test_the_ground_is_as_opaque_as_the_share():
    values = TEXT.map.flatten()
    top = float(torch.quantile(values.abs().double(), 0.99))
    reader = Reader(words_page(TEXT, WORDS))
    grounds = [span["style"] for span in reader.all("span") if "data-value" in span]
    for ground, value in zip(grounds, values.tolist(), strict=True):
        red, green, blue, opacity = re.findall(r"[\d.]+", ground)
        assert (int(red), int(green), int(blue)) == (FOR if value > 0 else AGAINST)
        assert float(opacity) == pytest.approx(0.75 * min(1, abs(value) / top), abs=1e-3)


def test_the_page_asks_for_nothing():
    text = words_page(TEXT, WORDS)
    assert "://" not in text
    assert "url(" not in text


def test_a_terminal_in_colours_and_without():
    lit = words_terminal(TEXT, WORDS, TRUE_COLOURS)
    assert re.sub(r"\x1b\[[\d;]*m", "", lit).splitlines()[1:3] == [
        "The zebra's <b> stripes",
        "",
    ]
    bare = words_terminal(TEXT, WORDS, 0)
    values = [float(value) for value in re.findall(r"\[([-+.\de]+)\]", bare)]
    assert values == pytest.approx(TEXT.map.flatten().tolist(), rel=0.06)
    assert bare.isascii()
    assert "outside the text" in bare


def test_tokens_cannot_command_the_terminal():
    assert "\x1b" not in words_terminal(TEXT, ["\x1b[2J"] * 5, 0)


def test_a_zero_map_is_plain_text():
    assert strengths(torch.zeros(3), Limits(0.0, 0.0)) == [0.0, 0.0, 0.0]


def test_show_words():
    stream = io.StringIO()
    show_words(TEXT, WORDS, stream=stream, environment={"TERM": "xterm"})
    assert stream.getvalue() == words_terminal(TEXT, WORDS, 0)


def test_as_many_tokens_as_values():
    with pytest.raises(InputError, match=r"4 tokens needs a map of shape \(B, 1, 4\); got \(2, 1,"):
        words_page(TEXT, WORDS[:4])
