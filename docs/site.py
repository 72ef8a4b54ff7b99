"""What is done to the built site: no page may load from another host, and sources lie beside it.

MkDocs calls these hooks. `llms.txt` names pages by their Markdown files, which programs read better
than HTML: so these are part of the site, with their tables filled.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docs.tables import on_page_markdown

_LOADS = r"<(?:script|link|img|iframe|source)\b"
_ASKED = re.compile(rf"""{_LOADS}[^>]*\s(?:src|href)=["']?https?:[^>]*>""")


MEASURED = {"Results": "results.md", "Performance": "performance.md"}
"""Pages that a command writes: before its first run there is none."""


def on_config(config: Any) -> Any:
    """Put the measured pages that exist into the menu, among the tables."""
    folder = Path(config.docs_dir)
    found = [{title: page} for title, page in MEASURED.items() if (folder / page).is_file()]
    next(section["Tables"] for section in config.nav if "Tables" in section).extend(found)
    return config


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuse a page that would load something from elsewhere."""
    asked = _ASKED.search(output)
    if asked is not None:
        raise ValueError(f"{page.file.src_uri} loads from another host: {asked[0]}")
    return output


def on_post_build(config: Any, **_: Any) -> None:
    """Put the Markdown of each page into the site."""
    source, site = Path(config.docs_dir), Path(config.site_dir)
    for page in source.rglob("*.md"):
        text = on_page_markdown(page.read_text(encoding="utf-8"))
        copy = site / page.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
