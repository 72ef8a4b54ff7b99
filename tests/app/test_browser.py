"""The page in a real browser. What it shows is held against the API's own answers."""

from __future__ import annotations

import json
import re
import shlex
import zipfile
from io import BytesIO

import numpy as np
import pytest
import torch
from PIL import Image

import libragrad
from libragrad.explaining.archive import load as load_archive
from libragrad.masking import masker
from libragrad.models.loading import load
from libragrad.models.mosaic import LABELS, mosaic_images, preprocess
from libragrad.picture.numeral import numeral
from tests.app.visitor import mosaic_file
from tests.cli.running import done


@pytest.fixture(scope="module")
def model():
    return load("builtin:mosaic").model


def answer(model, index, **options):
    x = preprocess(mosaic_images().images[index])
    return libragrad.explain(model, x, **options)


def shares(logits):
    return {
        name: f"{numeral(100 * float(share))} %"
        for name, share in zip(LABELS, logits[0].softmax(0), strict=True)
    }


def test_an_uploaded_picture_is_explained(visitor, model):
    visitor.upload(mosaic_file(3))
    visitor.explained("mosaic.png")
    expected = answer(model, 3)
    np.testing.assert_allclose(visitor.map(), expected.map[0], rtol=1e-3, atol=1e-5)
    plain = answer(model, 3, preset=libragrad.STANDARD)
    np.testing.assert_allclose(visitor.map(which="before"), plain.map[0], rtol=1e-3, atol=1e-5)
    figure = visitor.page.locator("#maps .grid figure")
    assert figure.locator("h3").inner_text() == expected.labels[0]
    assert figure.locator("figcaption p").inner_text() == "Libra FullGrad+"
    assert "100.00 % of the logit accounted for" in figure.inner_text().replace("\xa0", " ")
    with torch.no_grad():
        logits = model(preprocess(mosaic_images().images[3]))
    assert visitor.bars().items() <= shares(logits).items()


def test_nothing_is_asked_of_any_other_server(visitor):
    visitor.page.locator("[data-example='0']").click()
    visitor.explained("builtin:mosaic-000")
    own = (visitor.address, "data:", "blob:")
    assert [url for url in visitor.asked if not url.startswith(own)] == []


def test_a_picture_can_be_pasted(visitor):
    visitor.paste("pasted.png", f"new Uint8Array({[*mosaic_file(4)]})")
    visitor.explained("pasted.png")


def test_methods_and_classes_side_by_side(visitor, model):
    visitor.page.locator("[data-example='1']").click()
    visitor.explained("builtin:mosaic-001")
    second = visitor.page.locator("#targets label").nth(1)
    name = second.inner_text().split(" · ")[0]
    second.click()
    visitor.explained("builtin:mosaic-001", 2)
    visitor.choose_method("HiResCAM")
    visitor.explained("builtin:mosaic-001", 4)
    expected = answer(model, 1, targets=["predicted", name], methods=["fullgrad+", "hirescam"])
    titles = [
        f"{figure.locator('h3').inner_text()}, {figure.locator('figcaption p').inner_text()}"
        for figure in visitor.page.locator("#maps .grid figure").all()
    ]
    order = [expected[0], expected[2], expected[1], expected[3]]  # targets first, and not methods
    assert titles == [f"{e.labels[0]}, {e.name}" for e in order]
    for number, e in enumerate(order):
        np.testing.assert_allclose(visitor.map(number), e.map[0], rtol=1e-3, atol=1e-5)
    assert visitor.page.locator("#maps .legend").count() == 1


def test_another_class_by_its_label(visitor):
    visitor.page.locator("[data-example='2']").click()
    visitor.explained("builtin:mosaic-002")
    another = visitor.page.locator("#another input, #another textarea")
    another.fill("trousers")
    another.press("Enter")
    visitor.alert("no class is named 'trousers'; the nearest are 'trouser' (1)")
    another.fill("trouser")
    another.press("Enter")
    visitor.page.locator("#maps .grid h3", has_text="trouser").wait_for()


def test_before_and_after_opacity_and_signs(visitor):
    visitor.page.locator("[data-example='0']").click()
    visitor.explained("builtin:mosaic-000")
    page, layer = visitor.page, visitor.page.locator("#maps .layer.after")

    def style(name):
        return layer.evaluate(f"(e) => getComputedStyle(e).{name}")

    assert (style("clipPath"), style("opacity")) == ("inset(0px 0px 0px 0%)", "0.65")
    page.locator("#plain input[type=range]").fill("40")
    page.locator("#opacity input[type=range]").fill("0.2")
    assert (style("clipPath"), style("opacity")) == ("inset(0px 0px 0px 40%)", "0.2")
    before = layer.get_attribute("src")
    page.locator("#recipe").get_by_label("signed").check()
    page.locator("#maps .ticks span", has_text="≤ −100 %").wait_for()
    assert layer.get_attribute("src") != before


def test_pointing_reads_a_patch_and_so_do_the_keys(visitor):
    visitor.page.locator("[data-example='0']").click()
    visitor.explained("builtin:mosaic-000")
    reading = visitor.page.locator("#maps .grid output")
    visitor.stage().hover(position=visitor.place(16 * 4 + 6))
    said = re.fullmatch(r"row 5, column 7: (\S+), plain (\S+)", reading.inner_text())
    assert said is not None
    value, plain = (float(number.replace("−", "-")) for number in said.groups())
    assert value == pytest.approx(visitor.map()[4, 6], rel=5e-3)
    assert plain == pytest.approx(visitor.map(which="before")[4, 6], rel=5e-3)
    visitor.stage().focus()
    visitor.page.keyboard.press("ArrowRight")
    visitor.page.keyboard.press("ArrowDown")
    assert reading.inner_text().startswith("row 6, column 8: ")
    visitor.page.keyboard.press("Enter")
    visitor.deleted(1)


def test_clicked_patches_are_deleted_and_the_prediction_changes(visitor, model):
    visitor.page.locator("[data-example='1']").click()
    visitor.explained("builtin:mosaic-001")
    visitor.calm()
    before = visitor.bars()
    gone = np.argsort(-visitor.map().flatten())[:3].tolist()
    visitor.delete(gone)
    visitor.deleted(3)
    x = preprocess(mosaic_images().images[1])
    keep = torch.tensor([[p for p in range(256) if p not in gone]])
    with torch.no_grad():
        after = shares(masker(model, x).predict(x, keep))
    assert {k: v.split(" → ")[1] for k, v in visitor.bars().items()}.items() <= after.items()
    assert visitor.page.locator("#maps .gone").count() == 2 * 3  # on the picture and on its map
    visitor.page.locator("#recipe").get_by_label("raw").check()
    visitor.until("document.querySelectorAll('#maps .gone').length == 6")
    visitor.page.locator("#restore").click()
    visitor.deleted(0)
    assert visitor.bars() == before


def test_what_is_seen_is_saved(visitor, model, tmp_path):
    visitor.upload(mosaic_file(5), "five.png")
    visitor.explained("five.png")
    assert Image.open(BytesIO(visitor.save("png"))).size[0] > 300
    html = visitor.save("html").decode()
    assert html.startswith("<!doctype html>")
    assert "Libra FullGrad+" in html
    with zipfile.ZipFile(BytesIO(visitor.save("npz"))) as archive:
        assert archive.namelist() == ["FullGrad+.npz", "Libra FullGrad+.npz"]
        archive.extract("Libra FullGrad+.npz", tmp_path)
    saved = load_archive(tmp_path / "Libra FullGrad+.npz")
    torch.testing.assert_close(saved.map, answer(model, 5).map)
    command, program = visitor.programs()
    assert shlex.split(command)[:3] == ["libragrad", "explain", "five.png"]
    assert "open_picture(Path('five.png'))" in program


def test_the_command_line_makes_it_again(visitor):
    visitor.page.locator("[data-example='3']").click()
    visitor.explained("builtin:mosaic-003")
    line = shlex.split(visitor.programs()[0])
    made = json.loads(done(*line[1:-2], "--json", "--values"))
    plain, libra = made["pictures"][0]["explanations"]
    np.testing.assert_allclose(visitor.map(), libra["map"], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(visitor.map(which="before"), plain["map"], rtol=1e-3, atol=1e-5)


def test_a_wrong_file_gives_one_sentence_and_the_page_goes_on(visitor):
    visitor.upload(b"PK\x03\x04", "holiday.png")
    visitor.alert("holiday.png is no picture that can be read here")
    visitor.upload(b"", "empty.png")
    visitor.alert("empty.png is empty")
    visitor.upload(mosaic_file(0)[:-200], "cut.png")
    visitor.alert("cut.png is a broken or truncated PNG file")
    visitor.paste("film.mkv", f"new Uint8Array({20_000_001})")
    visitor.alert("film.mkv has over 20,000,000 bytes: make it smaller")
    visitor.upload(mosaic_file(0), "good.png")
    visitor.explained("good.png")


def test_names_are_text_and_nothing_else(visitor):
    name = "<img src=x onerror=alert(1)>{{7*7}}${7*7}`.png"
    visitor.upload(mosaic_file(0), name)
    visitor.explained(name)
    assert visitor.page.locator("#maps .seen p").inner_text() == name
    assert visitor.page.locator("#maps .seen img").count() == 0


def test_two_visitors_at_once_have_their_own(visit, model):
    one, two = visit(), visit()
    one.upload(mosaic_file(6), "one.png")
    two.upload(mosaic_file(7), "two.png")
    one.explained("one.png")
    two.explained("two.png")
    for visitor, index in ((one, 6), (two, 7)):
        np.testing.assert_allclose(visitor.map(), answer(model, index).map[0], rtol=1e-3, atol=1e-5)
    one.delete([17])
    one.deleted(1)
    two.deleted(0)
    two.delete([200, 201])
    two.deleted(2)
    one.deleted(1)


def test_a_long_answer_can_be_cancelled(visitor):
    visitor.page.locator("[data-example='0']").click()
    visitor.explained("builtin:mosaic-000")
    visitor.calm()
    second = visitor.page.locator("#targets label").nth(1)
    second.click()
    visitor.explained("builtin:mosaic-000", 2)
    for title in ("GenAtt", "TokenTM", "XGradCAM", "AttCAT", "LayerCAM"):
        visitor.choose_method(title)
    visitor.page.locator("#cancel").click()
    said = visitor.page.locator("#notice p")
    visitor.until("document.querySelector('#notice p')?.textContent == 'Cancelled.'")
    # This waits its turn behind the work, had that not been stopped and gone on to say more.
    visitor.page.locator("#recipe").get_by_label("signed").check()
    visitor.page.locator("#maps .ticks span", has_text="≤ −100 %").wait_for()
    assert said.inner_text() == "Cancelled."
    assert visitor.page.locator("#maps .grid figure").count() < 12


def test_a_phone_shows_it_all_in_its_width(visit):
    phone = visit(390, 844, touch=True)
    phone.page.locator("[data-example='1']").tap()
    phone.explained("builtin:mosaic-001")
    phone.page.locator("#again button").first.tap()
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    phone.stage().tap(position=phone.place(40))
    phone.deleted(1)
