"""The HTML file: parsed, complete, silent on the network, and tried in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from base64 import b64decode
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
import torch
from PIL import Image

from libragrad.picture import RECIPES, Look, framed, page, positions, sheet
from libragrad.picture.colour import colourise
from tests.picture.explanations import made

TWO = ("zebra", "elephant")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


class Reader(HTMLParser):
    """The elements of a page; an element that is not closed, or closed twice, is an error."""

    EMPTY = ("meta", "img", "input", "br")

    def __init__(self, text):
        super().__init__()
        self.elements: list = []
        self.open: list = []
        self.texts: dict = {}
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


def pixels(address):
    kind, _, data = address.partition(",")
    assert kind == "data:image/png;base64"
    return np.asarray(Image.open(BytesIO(b64decode(data))).convert("RGB"))


def test_every_value_is_in_the_page():
    explanations = [made(TWO, name, seed=i, scale=10.0 ** (-9 * i)) for i, name in enumerate("ab")]
    reader = Reader(page(sheet(explanations)))
    lists = [json.loads(text) for text in reader.texts["script"][:4]]
    expected = torch.cat([explanation.map for explanation in explanations]).double()
    torch.testing.assert_close(torch.tensor(lists).double(), expected, rtol=5e-6, atol=0)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_layers_are_the_maps_in_colours(recipe):
    one = made()
    reader = Reader(page(sheet([one]), Look(recipe=recipe)))
    layers = [image for image in reader.all("img") if image.get("class") == "layer"]
    names = ["paper" if recipe == "signed" else recipe, "signed"]
    for layer, name in zip(layers, names, strict=True):
        expected = colourise(positions(one.map, (32, 32), RECIPES[name])[0], RECIPES[name])
        assert np.array_equal(pixels(layer["src"]), expected)
    hidden = [layer["data-view"] for layer in layers if "hidden" in layer]
    assert hidden == (["plain"] if recipe == "signed" else ["signed"])


def test_the_page_can_reach_nothing_and_says_so():
    text = page(sheet([made(TWO)], deletion=[[[1.0, 0.5]] * 2]))
    assert "://" not in text
    assert "default-src 'none'" in text
    reader = Reader(text)
    assert {name for name, _ in reader.elements}.isdisjoint({"link", "iframe", "object", "base"})
    assert not any("src" in attrs for attrs in reader.all("script"))
    assert all(image["src"].startswith("data:image/png;base64,") for image in reader.all("img"))
    assert not re.search(r"url\((?!data:image/png;base64,)|@import", text)


def test_each_picture_is_in_the_file_once():
    text = page(sheet([made(TWO, name, seed=3) for name in "abc"]))
    assert len(re.findall(r"background-image: url", text)) == 1
    assert text.count('class="photo photo-0"') == 6


def test_the_page_can_be_heard_and_driven_without_a_mouse():
    one = made(TWO, patches=(3, 5))
    reader = Reader(page(sheet([one])))
    assert reader.all("html") == [{"lang": "en"}]
    assert all(image["alt"] for image in reader.all("img"))
    row, column = divmod(int(one.map[0].argmax()), 5)
    spoken = next(image["alt"] for image in reader.all("img") if image.get("class") == "layer")
    assert spoken.startswith("Libra FullGrad+ for zebra, paper: highest in row ")
    assert f"row {row + 1}, column {column + 1}, with" in spoken
    stages = [element for element in reader.all("div") if element.get("role") == "application"]
    assert [stage["tabindex"] for stage in stages] == ["0", "0"]
    assert "3 × 5 patches" in stages[0]["aria-label"]


def test_names_are_text_and_never_markup():
    evil = '</script><script>alert(1)</script>"<b>'
    text = page(sheet([made((evil,), evil), made((evil,), evil)]))
    assert "<script>alert" not in text
    assert "<b>" not in text
    assert evil in Reader(text).texts["h3"]


def test_without_a_picture_there_is_nothing_to_cover():
    reader = Reader(page(sheet([made(size=None)])))
    assert ["hidden" in label for label in reader.all("label")] == [True, False]


def test_a_frame_holds_the_page():
    inner = page(sheet([made()]))
    reader = Reader(framed(inner, 'a "title"'))
    assert [frame["srcdoc"] for frame in reader.all("iframe")] == [inner]
    assert [frame["title"] for frame in reader.all("iframe")] == ['a "title"']


# What a reader does, and what the page then shows, written where the dumped page holds it.
VISIT = """
const said = [], figure = document.querySelector("figure.map");
const stage = figure.querySelector(".stage"), box = stage.getBoundingClientRect();
const tell = () => said.push(figure.querySelector("output").textContent);
stage.dispatchEvent(new PointerEvent("pointermove", {
  clientX: box.left + 0.7 * box.width, clientY: box.top + 0.4 * box.height }));
tell();
for (const key of ["ArrowDown", "ArrowRight", "Home", "PageUp", "ArrowUp"]) {
  stage.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
  tell();
}
const seen = () => [...figure.querySelectorAll(".layer")].filter((l) => l.offsetParent)
  .map((l) => l.dataset.view + " " + getComputedStyle(l).opacity).join();
said.push(seen());
document.querySelector("#signed").click();
document.querySelector("#opacity").value = 30;
document.querySelector("#opacity").dispatchEvent(new Event("input"));
said.push(seen());
figure.querySelector("details").open = true;
setTimeout(() => {
  said.push(figure.querySelectorAll("td").length + " " + figure.querySelector("td").textContent);
  said.push("wide " + (document.documentElement.scrollWidth > innerWidth));
  document.title = "said:" + JSON.stringify(said);
}, 100);
"""


@pytest.mark.skipif(BROWSER is None, reason="there is no chromium here")
def test_a_browser_reads_values_by_pointer_and_keys(tmp_path):
    one = made(patches=(3, 5))
    text = page(sheet([one])).replace("</body>", f"<script>{VISIT}</script></body>")
    file = tmp_path / "page.html"
    file.write_text(text)
    assert BROWSER is not None
    run = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=2000",
            "--window-size=500,900",
            "--dump-dom",
            file.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    title = Reader(run.stdout).texts["title"][0]
    said = json.loads(title.removeprefix("said:"))
    walk = [(1, 3), (2, 3), (2, 4), (2, 0), (0, 0), (0, 0)]
    for heard, (row, column) in zip(said, walk, strict=False):
        where, value = heard.replace("−", "-").split(": ")
        assert where == f"row {row + 1}, column {column + 1}"
        assert float(value) == pytest.approx(float(one.map[0, row, column]), rel=1e-3)
    assert said[6:8] == ["plain 0.65", "signed 0.3"]
    count, first = said[8].replace("−", "-").split()
    assert count == "15"
    assert float(first) == pytest.approx(float(one.map[0, 0, 0]), rel=1e-3)
    assert said[9] == "wide false"
