"""Files by their suffix, and one clear sentence where a file cannot be."""

from __future__ import annotations

import re

import pytest

from libragrad.errors import MissingExtraError, SaveError
from libragrad.picture import Look, page, save, sheet, write
from libragrad.picture.extra import pictures_extra
from tests.picture.explanations import made

SHEET = sheet([made()])


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.png", b"\x89PNG"), ("a.PNG", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.html", b"<!doctype")],
)
def test_the_suffix_says_what_is_written(tmp_path, name, start):
    path = save(SHEET, tmp_path / name, dpi=50)
    assert path == tmp_path / name
    assert path.read_bytes().startswith(start)


def test_the_page_is_the_page_and_others_may_add_suffixes(tmp_path):
    look = Look(recipe="signed")
    assert save(SHEET, str(tmp_path / "a.html"), look).read_text() == page(SHEET, look)
    also = {".npz": lambda: b"numbers"}
    assert save(SHEET, tmp_path / "a.npz", also=also).read_bytes() == b"numbers"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.gif", "the suffix '.gif' is not known; use one of .png, .svg, .html, .npz"),
        ("a", "it has no suffix; use one of .png, .svg, .html, .npz"),
        ("no/folder/a.png", "/no/folder' does not exist; make it first"),
    ],
)
def test_a_bad_name_is_named(tmp_path, name, message):
    with pytest.raises(SaveError, match=re.escape(message)) as raised:
        save(SHEET, tmp_path / name, also={".npz": bytes})
    assert str(raised.value).startswith(f"cannot save '{tmp_path / name}': ")


def test_a_folder_in_the_place_of_the_file(tmp_path):
    (tmp_path / "a.png").mkdir()
    with pytest.raises(SaveError, match=r"a\.png': is a directory"):
        write(tmp_path / "a.png", {".png": bytes})


def test_no_permission(tmp_path, monkeypatch):
    def refuse(self, content):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.write_bytes", refuse)
    with pytest.raises(SaveError, match="no permission to write there; choose another folder"):
        write(tmp_path / "a.png", {".png": bytes})


def test_what_cannot_be_made_leaves_the_old_file(tmp_path):
    def fail():
        raise ValueError("no picture")

    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="no picture"):
        write(path, {".png": fail})
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("module", "package"), [("matplotlib.figure", "matplotlib"), ("PIL", "pillow")]
)
def test_a_missing_package_names_the_extra(module, package):
    with (
        pytest.raises(MissingExtraError, match=rf"{package}, which.*'libragrad\[pictures\]'"),
        pictures_extra(),
    ):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    with pytest.raises(ModuleNotFoundError, match="other"), pictures_extra():
        raise ModuleNotFoundError("No module named 'other'", name="other")
