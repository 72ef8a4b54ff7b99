"""The examples of every page run, in order, on a machine without a network."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from docs.doctests import fenced
from docs.site import on_config, on_post_build, on_post_page
from docs.tables import TABLES, on_page_markdown, refreshed

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[str]:
    """The fenced Python blocks of a page, each at its own line number."""
    text = page.read_text(encoding="utf-8")
    return [
        "\n" * text[: block.start(1)].count("\n") + block[1]
        for block in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No network, and a folder for what the examples save."""

    def refuse(*_, **__):
        raise AssertionError("an example of the documents asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=name)
def test_the_examples_run(page, offline):
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), names)


def test_every_kind_of_page_has_examples():
    folders = {page.parent.name for page in PAGES if blocks(page)}
    assert {"docs", "how-to", "theory", ROOT.name} <= folders


def test_the_tables_of_the_readme_are_those_of_the_library():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert refreshed(text) == text, "README.md is behind: run `python -m docs.tables`"


def test_every_place_for_a_table_is_filled():
    for page in PAGES:
        for place in re.findall(r"^<!-- table: ([\w-]+) -->$", page.read_text(), re.MULTILINE):
            assert place in TABLES, f"{name(page)} asks for the table {place!r}"


def test_a_table_stands_in_the_place_of_its_comment():
    page = on_page_markdown("before\n\n<!-- table: masks -->\n\nafter")
    assert page.startswith("before\n\n| name | what |\n|---|---|\n| `drop` | ")
    assert page.endswith("\n\nafter")


def test_a_table_of_the_readme_is_replaced_whole():
    old = "<!-- table: masks -->\nold\n<!-- /table -->\nrest"
    new = refreshed(old)
    assert "old" not in new
    assert "| `blur` |" in new
    assert new.startswith("<!-- table: masks -->\n| name")
    assert new.endswith(" |\n<!-- /table -->\nrest")
    assert refreshed(new) == new


def test_an_example_of_a_docstring_is_fenced():
    text = "Return a.\n\n>>> f(\n...     1\n... )\n2\n\nMore."
    assert fenced(text) == f"Return a.\n\n```pycon\n{text[11:-7]}\n```\n\nMore."


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_what_pages_outside_the_site_link_to_exists(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / page).read_text()):
        assert (ROOT / target).exists(), f"{page} links to {target}, which does not exist"


def test_the_index_for_programs_names_pages_that_exist():
    targets = re.findall(r"\]\(([^)]+)\)", (ROOT / "docs" / "llms.txt").read_text())
    assert targets
    for target in targets:
        source = f"{target.removesuffix('/')}.md" if target.endswith("/") else target
        assert (ROOT / "docs" / source).is_file(), f"llms.txt names {target}"


def test_a_page_that_loads_from_another_host_is_refused():
    page = SimpleNamespace(file=SimpleNamespace(src_uri="a.md"))
    harmless = '<a href="https://example.org">x</a><img src="b.svg"><script src="c.js"></script>'
    assert on_post_page(harmless, page) == harmless
    with pytest.raises(ValueError, match=r"^a\.md loads from another host"):
        on_post_page('<script async src="https://example.org/x.js"></script>', page)


def test_the_site_holds_the_pages_as_text_with_their_tables(tmp_path):
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "deep" / "a.md").write_text("<!-- table: masks -->\n")
    site = tmp_path / "site"
    on_post_build(SimpleNamespace(docs_dir=tmp_path / "docs", site_dir=site))
    assert "| `drop` |" in (site / "deep" / "a.md").read_text()


def test_a_measured_page_is_in_the_menu_once_it_is_there(tmp_path):
    (tmp_path / "results.md").touch()
    nav: list[Any] = [{"Home": "index.md"}, {"Tables": [{"Methods": "methods.md"}]}]
    on_config(SimpleNamespace(docs_dir=tmp_path, nav=nav))
    assert nav[1]["Tables"] == [{"Methods": "methods.md"}, {"Results": "results.md"}]
