"""Figures: no text overlaps another or a map, or leaves the figure, whatever is drawn."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from libragrad.errors import InputError
from libragrad.picture import Look, before_after, figure, figure_file, overlay, sheet
from libragrad.picture.lettering import width, wrap
from libragrad.picture.patches import patch_texts
from tests.picture.explanations import made

LONG = "Integrated and smoothed attention-free Libra FullGrad+ of all layers, with each bias once"
WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"


def boxes(drawn, dpi):
    """The boxes of all texts, of all maps and curves, and of the figure, in pixels."""
    drawn.set_dpi(dpi)
    renderer = FigureCanvasAgg(drawn).get_renderer()
    texts = [text for text in drawn.findobj(Text) if text.get_visible() and text.get_text()]
    artists = [*drawn.axes[0].images, *drawn.axes[0].collections]
    return (
        {text: text.get_window_extent(renderer) for text in texts},
        [artist.get_window_extent(renderer) for artist in artists],
        drawn.bbox,
    )


def overlap(first: Bbox, second: Bbox) -> bool:
    """Whether two boxes share an area; touching is not overlapping."""
    return (
        min(first.x1, second.x1) - max(first.x0, second.x0) > 0.01
        and min(first.y1, second.y1) - max(first.y0, second.y0) > 0.01
    )


def inside(box: Bbox, frame: Bbox) -> bool:
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= frame.x1 and box.y1 <= frame.y1


def assert_nothing_overlaps(drawn, dpi=100.0, on_patches=False):
    texts, pictures, frame = boxes(drawn, dpi)
    assert texts
    for text, box in texts.items():
        assert inside(box, frame), f"{text.get_text()!r} leaves the figure"
    for (one, first), (other, second) in combinations(texts.items(), 2):
        assert not overlap(first, second), f"{one.get_text()!r} on {other.get_text()!r}"
    assert pictures
    for first, second in combinations(pictures, 2):
        assert not overlap(first, second), "a map, a curve or the colour bar is on another"
    if not on_patches:
        for text, box in texts.items():
            assert not any(overlap(box, p) for p in pictures), f"{text.get_text()!r} on a map"


def grid(rows, columns, name="IxG", label="zebra", **how):
    labels = tuple(f"{label} {i}" for i in range(columns))
    return [made(labels, f"{name} {i}", seed=i, scale=10.0**-i, **how) for i in range(rows)]


@pytest.mark.parametrize(
    ("where", "text", "complaint"),
    [((0.1, 0.5), "map", "on a map"), ((0.9, 0.1), "outside", "leaves"), (None, "twice", "on 't")],
)
def test_the_checker_sees_an_overlap(where, text, complaint):
    drawn = figure(sheet([made()]))
    for x, y in [where] if where else [(0.5, 0.12), (0.505, 0.125)]:
        drawn.text(x, y, text, fontsize=14)
    with pytest.raises(AssertionError, match=complaint):
        assert_nothing_overlaps(drawn)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (1, 6), (6, 1), (3, 3), (12, 6)])
@pytest.mark.parametrize("names", [("IxG", "zebra"), (LONG, LONG), (WORD, WORD), ("斑 馬", "😀 é")])
def test_no_text_overlaps(shape, names):
    rows, columns = shape
    explanations = grid(rows, columns, *names, size=(16, 16))
    curve = [[[0.9, 0.4, 0.1]] * columns] * rows
    assert_nothing_overlaps(figure(sheet(explanations, deletion=curve)), dpi=60.0)


@pytest.mark.parametrize("dpi", [50.0, 72.0, 100.0, 150.0, 220.0])
@pytest.mark.parametrize("recipe", ["paper", "signed", "absolute", "raw"])
def test_no_text_overlaps_at_any_resolution(dpi, recipe):
    drawn = sheet(grid(2, 2, LONG, LONG), "targets")
    assert_nothing_overlaps(figure(drawn, Look(recipe=recipe)), dpi)


@pytest.mark.parametrize(
    ("patches", "size"),
    [((14, 14), None), ((3, 12), (16, 64)), ((12, 3), (64, 16)), ((20, 20), None), ((1, 5), None)],
)
@pytest.mark.parametrize("scale", [1e-7, 1.0, 150.0])
def test_values_stay_on_their_patches(patches, size, scale):
    one = made(patches=patches, size=size, scale=scale)
    drawn = figure(sheet([one]), Look(values=True, recipe="signed"))
    assert_nothing_overlaps(drawn, on_patches=True)
    written = [text.get_text() for text in drawn.findobj(Text)]
    expected = [text for row in patch_texts(one.map[0])[0] for text in row]
    assert Counter(expected) <= Counter(written)


@pytest.mark.parametrize("explanations", [1, 3])
def test_pictures_of_their_own_and_none(explanations):
    several = grid(explanations, 3, LONG, LONG)
    for own in (None, torch.rand(3, 3, 20, 10), torch.rand(3, 3, 10, 20)):
        drawn = [type(one)(**{**vars(one), "pictures": own}) for one in several]
        for rows in ("methods", "targets"):
            assert_nothing_overlaps(figure(sheet(drawn, rows)))


def test_dollars_are_no_mathematics_and_controls_no_characters():
    drawn = figure(sheet([made(("a $\\frac$ b\n\x1b c",), "$x$")]))
    written = [text.get_text() for text in drawn.findobj(Text)]
    assert "$x$" in written
    assert "a $\\frac$ b □ c" in written
    assert_nothing_overlaps(drawn)


def test_the_map_is_drawn_pixel_by_pixel():
    one = made(size=(24, 24))
    assert one.pictures is not None
    drawn = [np.asarray(image.get_array()) for image in figure(sheet([one])).axes[0].images]
    picture = (one.pictures[0].permute(1, 2, 0) * 255).double().round().byte().numpy()
    assert np.array_equal(drawn[0], picture)
    assert np.array_equal(drawn[1], overlay(one.map[0], picture))


def test_captions_say_the_account_and_the_full_colour_of_unlike_scales():
    drawn = figure(before_after(made(name="FullGrad+", error=40.0), made(scale=0.1)))
    written = " ".join(text.get_text().replace("\n", " ") for text in drawn.findobj(Text))
    written = written.replace("\N{NO-BREAK SPACE}", " ")
    assert "100.00 % of the logit accounted for" in written
    assert "adds up to" in written
    assert "relative to the value named below its map" in written


def test_too_many_patches_for_values_are_refused():
    with pytest.raises(InputError, match="at most 32 patches a side; the map has 40: save it as"):
        figure(sheet([made(patches=(40, 20))]), Look(values=True))


@pytest.mark.parametrize("room", [3.0, 20.0, 55.0, 90.0, 400.0])
@pytest.mark.parametrize("lines", [1, 2, 5])
@pytest.mark.parametrize("text", [LONG, WORD, "zebra", "", "  a  b "])
def test_wrapped_lines_fit_and_lose_nothing_silently(text, room, lines):
    wrapped = wrap(text, room, 9.0, lines)
    assert len(wrapped) <= lines
    for line in wrapped:
        assert width(line, 9.0) <= room or len(line) == 1
    joined = "".join(wrapped).replace(" ", "")
    whole = text.replace(" ", "")
    assert joined == whole or (joined.endswith("…") and whole.startswith(joined[:-1]))


def test_a_figure_is_the_same_each_time_and_svg_is_xml():
    drawn = sheet([made()])
    assert figure_file(drawn, dpi=50) == figure_file(drawn, dpi=50)
    assert figure_file(drawn, dpi=50)[:8] == b"\x89PNG\r\n\x1a\n"
    root = ET.fromstring(figure_file(drawn, kind="svg"))
    assert root.tag.endswith("svg")


def test_pyplot_is_not_involved():
    code = (
        "import sys; from tests.picture.explanations import made; import libragrad.picture as p;"
        "assert not {'matplotlib', 'PIL'} & set(sys.modules);"
        "p.figure_file(p.sheet([made()])); assert 'matplotlib.pyplot' not in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
