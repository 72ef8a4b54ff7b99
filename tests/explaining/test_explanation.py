"""What comes out: its parts, its text, its file, its picture."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import libragrad
from libragrad import InputError, Integrated, explain
from libragrad.errors import SaveError
from libragrad.explaining.archive import load
from libragrad.explaining.explanation import Explanation, Explanations
from tests.geometry.models import Joined
from tests.methods.tiny import built, pictures, vit

LABELS = ["tench", "zebra, a horse with stripes", "African elephant", "tabby cat", "tiger cat"]
NUMBERS = ("map", "tokens", "unattributed", "output", "completeness_error")


def two() -> Explanation:
    e: Explanation = explain(vit(), pictures(), ["zebra", 2], labels=LABELS, method="fullgrad")
    return e


def several() -> Explanations:
    found: Explanations = explain(
        vit(),
        pictures(1),
        targets=["zebra", "African elephant"],
        methods=["fullgrad+", "genatt"],
        labels=LABELS,
    )
    return found


def test_the_parts_of_an_explanation() -> None:
    e = two()
    assert len(e) == 2
    assert tuple(e.map.shape) == (2, 4, 4)
    assert tuple(e.tokens.shape) == (2, 17)
    assert {tuple(getattr(e, name).shape) for name in NUMBERS[2:]} == {(2,)}
    assert e.target is not None
    assert e.target.tolist() == [1, 2]
    assert e.labels == ("zebra", "African elephant")
    assert all(not getattr(e, name).requires_grad for name in NUMBERS)
    second = e.one(-1)
    assert len(second) == 1
    assert torch.equal(second.map, e.map[1:])
    assert second.labels == ("African elephant",)
    with pytest.raises(IndexError):
        e.one(2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        e.labels = ()  # type: ignore[misc]


def test_an_explanation_as_text() -> None:
    e = two()
    lines = str(e).splitlines()
    assert lines[0] == "Libra FullGrad of VisionTransformer"
    for i, line in enumerate(lines[1:]):
        found = re.fullmatch(
            r"  (.+): output (\S+) = map (\S+) \+ unattributed (\S+), error (\S+)", line
        )
        assert found is not None
        assert found[1] == e.labels[i]
        assert float(found[2]) == pytest.approx(float(e.output[i]), rel=1e-3)
        assert float(found[3]) == pytest.approx(float(e.map[i].sum()), rel=1e-3)
        assert float(found[4]) == pytest.approx(float(e.unattributed[i]), rel=1e-3)
        assert abs(float(found[5])) < 1e-12
    claims_nothing = explain(vit(), pictures(1), 0, method="gradcam")
    assert "error" not in str(claims_nothing)
    assert bool(claims_nothing.completeness_error.isnan().all())


def test_several_explanations_by_number_method_and_label() -> None:
    found = several()
    assert [e.name for e in found] == ["Libra FullGrad+", "Libra GenAtt"] * 2
    assert [e.labels[0] for e in found] == ["zebra"] * 2 + ["African elephant"] * 2
    assert found[0] is found["fullgrad+", "zebra"]
    assert found[-1] is found["Libra GenAtt", "African elephant"]
    assert found[-1] is found["GenAtt", "African elephant"]
    assert found[1:3] == found.items[1:3]
    assert str(found).count("\n") == 7
    with pytest.raises(InputError) as caught:
        found["genatt"]
    assert str(caught.value) == (
        "2 explanations are 'genatt'; there are ('Libra FullGrad+', 'zebra'), "
        "('Libra GenAtt', 'zebra'), ('Libra FullGrad+', 'African elephant'), "
        "('Libra GenAtt', 'African elephant')"
    )
    with pytest.raises(InputError, match=r"^none of the explanations is 'rollout'; there are"):
        found["rollout"]
    with pytest.raises(IndexError):
        found[4]


def test_a_file_brings_back_every_number(tmp_path: Path) -> None:
    e = two()
    path = e.save(tmp_path / "zebra.npz")
    back = load(path)
    for name in (*NUMBERS, "target"):
        assert torch.equal(getattr(back, name), getattr(e, name)), name
        assert getattr(back, name).dtype == getattr(e, name).dtype, name
    assert (back.labels, back.name, back.layout) == (e.labels, e.name, e.layout)
    assert back.origin == e.origin
    assert back.settings == e.settings.manifest()
    assert back.pictures is None


def test_a_file_remembers_tokens_in_another_order(tmp_path: Path) -> None:
    e = explain(built(Joined("end")), pictures(1, 24, 32), 1, method="fullgrad")
    assert e.layout.order is not None
    assert load(e.save(tmp_path / "x.npz")).layout == e.layout


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, manifest=np.array(json.dumps({"format": 99})))
    with pytest.raises(InputError, match=r"x\.npz' has the format 99, and this is 1$"):
        load(path)


def test_the_manifest_says_what_made_it(tmp_path: Path) -> None:
    path = explain(
        vit(),
        pictures(1),
        1,
        method="input_x_grad",
        path=Integrated(3),
        output="probability",
        level="pixels",
        profile="paper",
        seed=7,
    ).save(tmp_path / "x.npz")
    with np.load(path, allow_pickle=False) as file:
        manifest = json.loads(str(file["manifest"]))
    assert manifest["model"] == "VisionTransformer"
    assert manifest["versions"]["libragrad"] == libragrad.__version__
    assert manifest["versions"]["torch"] == torch.__version__
    assert {"python", "numpy", "timm"} <= set(manifest["versions"])
    settings = manifest["settings"]
    assert settings["method"] == "input_x_grad"
    assert settings["seed"] == 7
    assert settings["preset"]["name"] == "Libra"
    assert settings["preset"]["attention"] == "constant"
    assert settings["path"].startswith("Integrated(steps=3")
    assert (settings["output"], settings["profile"], settings["level"]) == (
        "probability",
        "paper",
        "pixels",
    )


def test_pictures_lie_under_the_maps_and_go_into_the_file(tmp_path: Path) -> None:
    shown = torch.rand(2, 3, 32, 32)
    e = explain(vit(), pictures(), 1, method="fullgrad", pictures=shown)
    back = load(e.save(tmp_path / "x.npz"))
    for held, wanted in ((e, shown), (e.one(1), shown[1:]), (back, shown)):
        assert held.pictures is not None
        assert torch.equal(held.pictures, wanted)
    for name in ("x.png", "x.svg", "x.html"):
        assert e.save(tmp_path / name).stat().st_size > 1000
    with Image.open(tmp_path / "x.png") as picture:
        assert min(picture.size) > 100
    assert several().save(tmp_path / "sheet.png").exists()
    assert "<" in several()._repr_html_()


def test_a_file_of_numbers_holds_one_explanation(tmp_path: Path) -> None:
    with pytest.raises(
        SaveError, match=r"the suffix '\.npz' is not known; use one of \.png, \.svg"
    ):
        several().save(tmp_path / "x.npz")
    with pytest.raises(SaveError, match=r"the suffix '\.gif' is not known"):
        two().save(tmp_path / "x.gif")
