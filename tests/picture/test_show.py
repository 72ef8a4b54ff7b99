"""Terminals: what they are asked for, what they are sent, and what a notebook gets."""

from __future__ import annotations

import io
import re
import sys
from base64 import b64decode
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from libragrad.errors import InputError
from libragrad.picture import Limits, Look, figure_file, find_recipe, sheet, show, terminal
from libragrad.picture.ansi import TRUE_COLOURS, nearest
from libragrad.picture.blocks import beside, columns_of, digits, half_blocks
from libragrad.picture.protocols import PROTOCOLS
from libragrad.picture.terminal import Terminal
from tests.picture.explanations import made

TWO = ("zebra", "elephant")
SHEET = sheet([made(TWO, "FullGrad+", seed=1), made(TWO, error=0.02)])


class Screen(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, interactive=True):
        super().__init__()
        self.interactive = interactive

    def isatty(self):
        return self.interactive


def shown(what=SHEET, look=None, interactive=True, **how):
    screen = Screen(interactive)
    show(what, look or Look(), stream=screen, **how)
    return screen.getvalue()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, Terminal("", 0)),
        ({"TERM": "dumb"}, Terminal("", 0)),
        ({"TERM": "linux"}, Terminal("", 0)),
        ({"TERM": "xterm"}, Terminal("", 256)),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, Terminal("", TRUE_COLOURS)),
        ({"TERM": "xterm-direct"}, Terminal("", TRUE_COLOURS)),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, Terminal("", 0)),
        ({"TERM": "xterm-kitty"}, Terminal("kitty", TRUE_COLOURS)),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, Terminal("kitty", TRUE_COLOURS)),
        ({"TERM": "xterm-ghostty"}, Terminal("kitty", TRUE_COLOURS)),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, Terminal("kitty", TRUE_COLOURS)),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, Terminal("iterm2", TRUE_COLOURS)),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, Terminal("iterm2", TRUE_COLOURS)),
        ({"TERM": "foot"}, Terminal("sixel", 256)),
        ({"TERM": "mlterm", "COLORTERM": "24bit"}, Terminal("sixel", TRUE_COLOURS)),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "iTerm.app"}, Terminal("", 256)),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux"}, Terminal("", 256)),
    ],
)
def test_environments(environment, expected):
    assert terminal(environment, interactive=True) == expected
    assert terminal(environment, interactive=False) == Terminal("", 0)


def decoded_kitty(text):
    parts = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", text)
    assert "".join(f"\x1b_G{a};{b}\x1b\\" for a, b in parts) == text
    assert parts[0][0].startswith("a=T,f=100")
    assert [a[-3:] for a, _ in parts] == ["m=1"] * (len(parts) - 1) + ["m=0"]
    assert all(len(b) <= 4096 for _, b in parts)
    return b64decode("".join(b for _, b in parts))


def decoded_iterm2(text):
    found = re.fullmatch(r"\x1b\]1337;File=inline=1;size=(\d+):(.*)\x07", text)
    assert found is not None
    data = b64decode(found[2])
    assert len(data) == int(found[1])
    return data


def decoded_sixel(text):
    """The picture that a sixel terminal would draw."""
    found = re.fullmatch(r'\x1bPq"1;1;(\d+);(\d+)((?:#\d+;2;\d+;\d+;\d+)+)(.*)\x1b\\', text)
    assert found is not None
    width, height = int(found[1]), int(found[2])
    palette = {
        int(i): [int(part) for part in rest.split(";")]
        for i, rest in re.findall(r"#(\d+);2;([\d;]+)", found[3])
    }
    drawn = np.full((height + 5, width, 3), -1)
    for band, lines in enumerate(found[4].split("-")):
        for line in lines.split("$"):
            number, body = re.fullmatch(r"#(\d+)([^0-9].*)", line).groups()  # type: ignore[union-attr]
            x = 0
            for count, letter in re.findall(r"(?:!(\d+))?([?-~])", body):
                for _ in range(int(count or 1)):
                    for bit in range(6):
                        if (ord(letter) - 63) >> bit & 1:
                            drawn[6 * band + bit, x] = palette[int(number)]
                    x += 1
            assert x == width
    return drawn[:height]


def test_kitty_and_iterm2_carry_the_file_unchanged():
    file = np.random.default_rng(0).bytes(20_000)
    assert decoded_kitty(PROTOCOLS["kitty"](file)) == file
    assert decoded_iterm2(PROTOCOLS["iterm2"](file)) == file


@pytest.mark.parametrize("shape", [(6, 4), (13, 30), (1, 1)])
def test_sixels_draw_the_picture(shape):
    values = np.random.default_rng(0).integers(0, 2, (*shape, 1)) * [255, 51, 102]
    file = io.BytesIO()
    Image.fromarray(values.astype(np.uint8)).save(file, "png")
    drawn = decoded_sixel(PROTOCOLS["sixel"](file.getvalue()))
    assert np.array_equal(drawn, values * 100 // 255)


@pytest.mark.parametrize(
    ("environment", "decode"),
    [({"TERM": "xterm-kitty"}, decoded_kitty), ({"TERM": "mintty"}, decoded_iterm2)],
)
def test_a_terminal_that_can_gets_the_figure(environment, decode):
    file = decode(shown(environment=environment, columns=80).removesuffix("\n"))
    with Image.open(io.BytesIO(file)) as picture:
        assert 600 < picture.width <= 640  # 80 columns of 8 pixels


def test_half_blocks_hold_two_rows_of_pixels():
    pixels = np.array([[[1, 2, 3], [1, 2, 3]], [[4, 5, 6], [4, 5, 6]], [[7, 8, 9]] * 2], np.uint8)
    assert half_blocks(pixels, TRUE_COLOURS) == [
        "\x1b[38;2;1;2;3m\x1b[48;2;4;5;6m▀▀\x1b[0m",
        "\x1b[38;2;7;8;9m\x1b[48;2;7;8;9m▀▀\x1b[0m",
    ]


def test_the_nearest_of_256_colours():
    def rgb(number):
        if number >= 232:
            return np.array([8 + 10 * (number - 232)] * 3)
        steps = [0, 95, 135, 175, 215, 255]
        number -= 16
        return np.array([steps[number // 36], steps[number // 6 % 6], steps[number % 6]])

    for colour in np.random.default_rng(0).integers(0, 256, (50, 3)):
        distances = [((rgb(number) - colour) ** 2).sum() for number in range(16, 256)]
        assert distances[nearest(colour.tolist()) - 16] == min(distances)


@pytest.mark.parametrize("columns", [24, 40, 80, 200])
@pytest.mark.parametrize("way", ["blocks", "blocks256", "ascii"])
def test_no_line_is_wider_than_the_terminal(way, columns):
    long = ("a very long label of many words indeed " * 3, "斑馬" * 30)
    drawn = sheet([made(long, "a method with a long name " * 6), made(long, "b")])
    lines = shown(drawn, way=way, columns=columns).splitlines()
    assert max(columns_of(line) for line in lines) <= columns


def test_without_colours_all_is_ascii():
    text = shown(environment={"TERM": "xterm"}, interactive=False, columns=80)
    assert text.isascii()
    assert "\x1b" not in text
    assert "98.00 % of the logit" in text


def test_golden_digits():
    attribution = torch.tensor([[0.0, 0.05, 1.0], [-1.0, 0.6, 3.0]])
    signed, paper = find_recipe("signed"), find_recipe("paper")
    assert digits(attribution, signed, Limits(-1.0, 1.0), 6) == [" . . 9", "-9 5 9"]
    assert digits(attribution, paper, Limits(0.0, 1.0), 6) == [" . . 9", " . 5 9"]
    wide = torch.ones(2, 8).cumsum(1)  # pairs averaged: 1.5, 3.5, 5.5, 7.5
    assert digits(wide, paper, Limits(0.0, 9.0), 8) == [" 2 4 6 8"]


def test_labels_cannot_command_the_terminal():
    for way in ("ascii", "blocks"):
        text = shown(sheet([made(("a\x1b]0;owned\x07b",), "c\x1b[2Jd")]), way=way, columns=80)
        assert "\x1b]" not in text
        assert "\x1b[2J" not in text
        assert "\x07" not in text


def test_a_stream_that_cannot_say_a_letter_gets_a_question_mark():
    file = io.BytesIO()
    stream = io.TextIOWrapper(file, encoding="ascii")
    show(sheet([made(("斑馬",))]), way="ascii", stream=stream, columns=80)
    assert b"\n??\n" in file.getvalue()


@pytest.mark.parametrize("recipe", ["paper", "signed"])
def test_the_narrowest_terminal_gets_its_numbers_one_by_one(recipe):
    look = Look(recipe=recipe)
    for columns in (1, 2, 5, 9, 17, 18, 19, 24):
        for way in ("blocks", "ascii"):
            assert shown(look=look, way=way, columns=columns)
    said = " ".join(shown(look=look, way="blocks", columns=12).split())
    assert {"paper": "0 % 50 % ≥ 100 %", "signed": "≤ −100 % 0 % ≥ 100 %"}[recipe] in said


def test_an_unknown_way_is_named():
    with pytest.raises(InputError, match="no way to show 'kity'; did you mean 'kitty'"):
        shown(way="kity")


def test_the_environment_of_the_process_is_the_default(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-kitty")
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert shown(columns=80).startswith("\x1b_G")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in shown(columns=80)


def test_a_notebook_gets_the_page_and_the_picture(monkeypatch):
    displayed = []
    ipython = SimpleNamespace(
        get_ipython=lambda: SimpleNamespace(kernel=object()),
        display=SimpleNamespace(display=lambda data, raw: displayed.append((data, raw))),
    )
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    show(SHEET)
    [(data, raw)] = displayed
    assert raw
    assert data["text/html"].startswith('<iframe title="FullGrad+, Libra FullGrad+" srcdoc="&lt;!')
    assert data["image/png"] == figure_file(SHEET)


def test_blocks_beside_each_other_keep_their_widths():
    assert beside([["a", "bb"], ["斑", "x", "y"]], [3, 2]) == ["a    斑", "bb   x", "     y"]
