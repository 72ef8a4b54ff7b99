"""`methods`, `models`, `doctor` and `app`: what there is."""

from __future__ import annotations

import sys
from importlib.metadata import version
from types import SimpleNamespace

import pytest

from libragrad.cli import checkup
from libragrad.cli.choices import find_preset
from libragrad.methods.table import METHODS
from libragrad.models.loading import SOURCES
from tests.cli.running import answer, cli, done, words


def test_the_methods_are_those_of_the_table():
    found = answer("methods")
    assert [one["key"] for one in found] == list(METHODS)
    text = done("methods")
    for method in METHODS.values():
        assert f"{method.key}  " in text
        assert method.citation in text
        assert method.formula in text


def test_a_method_says_which_preset_is_its_own():
    presets = {one["key"]: one["preset"] for one in answer("methods")}
    assert presets["fullgrad+"] is None
    assert find_preset(presets["decompx"]) == METHODS["decompx"].preset


def test_models_without_a_pattern_lists_the_sources():
    text = done("models")
    assert all(f"{prefix}: " in text for prefix in SOURCES)
    found = answer("models")
    assert [one["prefix"] for one in found["sources"]] == list(SOURCES)
    assert found["models"] == []


def test_models_with_a_pattern_lists_their_names():
    assert done("models", "builtin:") == "builtin:mosaic\n"
    assert done("models", "BUILTIN:mos*".lower()) == "builtin:mosaic\n"
    found = answer("models", "tv:vit_b_1*")["models"]
    assert found == ["tv:vit_b_16"]


def test_the_doctor_finds_this_installation_sound():
    found = answer("doctor")
    assert found["core"] is None
    assert found["versions"]["torch"] == version("torch")
    assert found["devices"][0].startswith("cpu: ")
    assert [extra["name"] for extra in found["extras"]] == list(checkup.EXTRAS)
    assert "sound: the account of a small network balances" in words(done("doctor"))


def test_the_doctor_gives_the_command_that_installs_what_is_missing(monkeypatch):
    own = checkup._version
    monkeypatch.setattr(
        checkup, "_version", lambda package: None if package == "gradio" else own(package)
    )
    (app,) = (extra for extra in answer("doctor")["extras"] if extra["name"] == "app")
    assert app["missing"] == ["gradio"]
    assert app["command"] == "pip install 'libragrad[app]'"
    assert "missing gradio; run: pip install 'libragrad[app]'" in words(done("doctor"))


def test_the_doctor_exits_1_if_the_core_is_broken(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    result = cli("doctor")
    assert result.exit_code == 1
    assert "broken: ModuleNotFoundError: import of torch halted" in words(result.stdout)


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [(None, "its compiled library loads"), (object(), "its compiled library does not load")],
)
def test_the_doctor_tells_whether_torchvisions_library_loads(declared, sentence, monkeypatch):
    monkeypatch.setattr(
        "libragrad.models.torchvision_cpu.declare_missing_operators", lambda: declared
    )
    assert answer("doctor")["torchvision"].startswith(sentence)


def test_the_page_without_gradio_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("libragrad.cli.app.find_spec", lambda name: None)
    result = cli("app")
    assert result.exit_code == 1
    assert words(result.stderr) == (
        "error the page needs the package gradio, which is not installed; "
        "run: pip install 'libragrad[app]'"
    )


def test_the_page_gets_the_model_and_the_address(monkeypatch):
    served = []

    def serve(loaded, *, host, port):
        served.append((loaded.manifest.name, host, port))

    monkeypatch.setattr("libragrad.cli.app.find_spec", lambda name: True)
    monkeypatch.setitem(sys.modules, "libragrad.app", SimpleNamespace(serve=serve))
    found = answer("app", "--model", "builtin:mosaic", "--port", "8080")
    assert found == {"address": "http://127.0.0.1:8080"}
    assert served == [("builtin:mosaic", "127.0.0.1", 8080)]
