"""What is answered, without a browser: prompts, programs, limits, and what the model cannot do."""

from __future__ import annotations

import contextlib
import io
from base64 import b64encode
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import timm
import torch
from open_clip.model import CLIP
from PIL import Image

import libragrad
from libragrad.app.answers import Answers
from libragrad.app.limits import Limits
from libragrad.app.studio import Studio
from libragrad.data import load_dataset
from libragrad.models import loading
from libragrad.models.loaded import LoadedModel, Manifest
from libragrad.models.preprocessing import Preprocessing
from libragrad.targets import PromptModel
from tests.app.visitor import mosaic_file
from tests.targets.test_prompts import of_open_clip, split

OPTIONS = (["fullgrad+"], "Libra", "logit", "paper", "method")
CONTRADICTION = "<b>{{7}}</b>\na photo of ${1}"


def small(picture: Image.Image) -> Image.Image:
    return picture.resize((32, 32))


def pixels(picture: Image.Image) -> torch.Tensor:
    return torch.from_numpy(np.array(small(picture))).permute(2, 0, 1) / 255


def reader() -> LoadedModel:
    """A model of pictures and texts, of random weights."""
    torch.manual_seed(0)
    return LoadedModel(
        of_open_clip(CLIP).eval(),
        Manifest("openclip:tiny", "open_clip", "3", "pretrained"),
        Preprocessing(pixels, small, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
        tokenizer=split,
    )


def page_of(loaded: LoadedModel, **limits: int) -> Answers:
    return Answers(Studio(loaded), Limits(**limits), list(load_dataset("builtin:mosaic"))[:2])


@pytest.fixture(scope="module")
def mosaic() -> Answers:
    return page_of(loading.load("builtin:mosaic"))


def event(**sent):
    return SimpleNamespace(**sent)


def uploaded(answers, prompts="", options=OPTIONS, name="a.png"):
    data = b64encode(mosaic_file(0)).decode()
    return list(answers.uploaded(event(name=name, data=data), prompts, *options))


def said(answers) -> str:
    return [one.notice for one in answers if isinstance(one.notice, str)][-1]


def test_each_prompt_is_a_column():
    loaded = reader()
    final = uploaded(page_of(loaded), CONTRADICTION)[-1]
    model = PromptModel(loaded.model, CONTRADICTION.split("\n"), tokenizer=split).eval()
    x = pixels(Image.open(io.BytesIO(mosaic_file(0))))[None]
    expected = libragrad.explain(model, x, targets=[0, 1])
    (found,) = final.session.comparisons
    torch.testing.assert_close(found.after.map, torch.cat([e.map for e in expected]))
    assert found.after.labels == tuple(CONTRADICTION.split("\n"))
    assert "<h3>&lt;b&gt;{{7}}&lt;/b&gt;</h3>" in final.maps
    assert "--prompt '<b>{{7}}</b>' --prompt 'a photo of ${1}'" in final.command


def test_one_prompt_has_a_score_and_no_share():
    final = uploaded(page_of(reader()), "a photo")[-1]
    score = float(final.session.whole.logits[0, 0])
    assert f"{score:.3g}".replace("-", "−") in final.prediction
    assert "%" not in final.prediction.split("</ul>")[0].replace("width:0.00%", "")
    assert final.session.comparisons[0].after_curves is None


def test_one_logit_is_two_classes():
    torch.manual_seed(0)
    model = timm.create_model("vit_tiny_patch16_224", img_size=32, num_classes=1, depth=2).eval()
    loaded = replace(reader(), model=model, labels=("zebra",), tokenizer=None)
    final = uploaded(page_of(loaded))[-1]
    with torch.no_grad():
        z = float(model(final.session.seen.x))
    (found,) = final.session.comparisons
    assert found.after.labels == ("zebra" if z > 0 else "not zebra",)
    assert float(found.after.output[0]) == pytest.approx(abs(z), rel=1e-5)
    share = torch.tensor(abs(z), dtype=torch.float64).sigmoid()
    assert f"<span>{100 * float(share):.1f} %</span>" in final.prediction
    assert "<span>not zebra</span>" in final.prediction


def test_without_a_prompt_nothing_is_compared():
    assert "type one prompt a line" in said(uploaded(page_of(reader()), " \n "))
    many = "\n".join(f"photo {i}" for i in range(13))
    assert "at most 12 prompts of 300 letters are compared" in said(
        uploaded(page_of(reader()), many)
    )


def test_other_prompts_for_the_same_picture():
    answers = page_of(reader())
    first = uploaded(answers, "a photo")[-1].session
    second = list(answers.prompted(first, "a dog\na cat", *OPTIONS))[-1].session
    assert second.comparisons[0].after.labels == ("a dog", "a cat")
    assert second.seen is first.seen


def test_maps_come_one_method_after_the_other(mosaic):
    options = (["fullgrad", "rawatt"], *OPTIONS[1:])
    counts = [
        len(a.session.comparisons)
        for a in uploaded(mosaic, options=options)
        if "maps" in str(a.maps)
    ]
    assert counts == [0, 1, 2, 2]


def test_what_libragrad_does_not_change_has_no_before(mosaic):
    options = (["rawatt"], *OPTIONS[1:])
    final = uploaded(mosaic, options=options)[-1]
    assert final.session.comparisons[0].before is None
    assert "data-before" not in final.maps


def test_one_scale_for_all_maps(mosaic):
    options = (["fullgrad", "input_x_grad"], "Libra", "logit", "signed", "all")
    final = uploaded(mosaic, options=options)[-1]
    assert "relative to the value named below" not in final.maps
    assert (
        "relative to the value named below"
        in uploaded(mosaic, options=(options[0], *OPTIONS[1:]))[-1].maps
    )


def test_too_many_maps_are_refused():
    answers = page_of(loading.load("builtin:mosaic"), maps=2)
    here = uploaded(answers)[-1].session
    refused = said(answers.asked(here, [0, 1, 2], *OPTIONS))
    assert "1 methods × 3 targets are 3 maps, and at most 2 are made at a time" in refused
    assert "no class is chosen" in said(answers.asked(here, [], *OPTIONS))
    assert "classes are numbers from 0 to 9; got 10" in said(answers.asked(here, [10], *OPTIONS))


def test_patches_are_those_of_the_grid_and_may_all_be_deleted(mosaic):
    here = uploaded(mosaic)[-1].session
    wrong = said(mosaic.deleted(event(patches=[256]), here, *OPTIONS))
    assert "patches are numbers from 0 to 255; got [256]" in wrong
    gone = list(mosaic.deleted(event(patches=[*range(256)]), here, *OPTIONS))[-1]
    assert "256 of 256 patches deleted" in gone.prediction


def test_a_model_without_memory_says_so(mosaic, monkeypatch):
    def full(*_, **__):
        raise RuntimeError("not enough memory")

    monkeypatch.setattr("libragrad.app.answers.compared", full)
    assert "the model could not answer: not enough memory" in said(uploaded(mosaic))


def run(program, folder, monkeypatch):
    """What a program leaves behind."""
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(program, "program", "exec"), names)
    return SimpleNamespace(**names)


def test_the_program_makes_what_is_seen(mosaic, tmp_path, monkeypatch):
    here = list(mosaic.example(event(example=1), "", *OPTIONS))[-1].session
    here = list(mosaic.asked(here, [2, 4], *OPTIONS))[-1].session
    final = list(mosaic.deleted(event(patches=[3, 50]), here, *OPTIONS))[-1]
    made = run(final.python, tmp_path, monkeypatch)
    torch.testing.assert_close(torch.cat([e.map for e in made.maps]), here.comparisons[0].after.map)
    torch.testing.assert_close(made.some.predict(made.x, made.keep), final.session.rest)
    assert {file.name for file in tmp_path.iterdir()} == {"Standard.html", "Libra.html"}


def test_the_program_of_prompts_makes_what_is_seen(tmp_path, monkeypatch):
    loaded = reader()
    (tmp_path / "a.png").write_bytes(mosaic_file(0))
    final = uploaded(page_of(loaded), "a dog\na cat")[-1]
    monkeypatch.setattr(loading, "load", lambda name: {"openclip:tiny": loaded}[name])
    made = run(final.python, tmp_path, monkeypatch)
    torch.testing.assert_close(
        torch.cat([e.map for e in made.maps]), final.session.comparisons[0].after.map
    )


def test_a_name_cannot_be_taken_for_an_option_or_for_code(mosaic):
    final = uploaded(mosaic, name="--out=x; rm '*'.png")[-1]
    assert final.command.startswith("libragrad explain './--out=x; rm '\"'\"'*'\"'\"'.png' ")
    assert """open_picture(Path("--out=x; rm '*'.png"))""" in final.python
