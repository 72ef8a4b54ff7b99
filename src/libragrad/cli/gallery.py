"""A folder of explained pictures, and the one page that shows them all."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from libragrad.cli.maker import Made
from libragrad.errors import SaveError
from libragrad.picture import Look, overlay, save, write
from libragrad.picture.colour import Pixels
from libragrad.picture.document import document

__all__ = ["Gallery", "Skipped"]

_SIDE = 240  # pixels of a thumbnail's longer side

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.4 system-ui, sans-serif; margin: 0; padding: 1.5rem; }
h1 { font-size: 1.3rem; margin: 0 0 .3rem; }
p { margin: .2rem 0; }
ul.pictures { list-style: none; padding: 0; display: grid; gap: 1.2rem;
  grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); }
ul.pictures img { width: 100%; height: auto; display: block; border-radius: .3rem; }
ul.pictures a { color: inherit; text-decoration: none; overflow-wrap: anywhere; }
ul.pictures a:focus-visible { outline: .15rem solid; outline-offset: .2rem; }
small { display: block; opacity: .75; }
"""


class Skipped(NamedTuple):
    """A picture that could not be explained, and why."""

    picture: str
    reason: str


class Gallery:
    """Writes a file for each picture; `close` writes the page that links to them."""

    def __init__(self, folder: Path, look: Look) -> None:
        """Make the folder, if it is not there."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SaveError(f"cannot make the folder '{folder}': {reason}") from error
        self.folder = folder
        self._look = look
        self._entries: list[str] = []

    def path(self, name: str) -> Path:
        """The file of the picture of that name."""
        return self.folder / f"{name}.png"

    def add(self, made: Made, name: str) -> Path:
        """Write the sheet of a picture."""
        path = save(made.sheet, self.path(name), self._look)
        self._entries.append(_entry(made, path.name, self._look))
        return path

    def close(self, title: str, settings: str, skipped: Sequence[Skipped]) -> Path:
        """Write the page."""
        count = len(self._entries)
        left_out = "".join(f"<li>{escape(one.reason)}</li>" for one in skipped)
        body = (
            f"<h1>{escape(title)}</h1><p>{escape(settings)}</p>"
            f"<p>{count} {'picture' if count == 1 else 'pictures'}</p>"
            f'<ul class="pictures">{"".join(self._entries)}</ul>'
        )
        if left_out:
            body += f"<h2>Skipped</h2><ul>{left_out}</ul>"
        page = document(title, body, _STYLE).encode()
        return write(self.folder / "index.html", {".html": lambda: page})


def _entry(made: Made, file: str, look: Look) -> str:
    cells = [cell for cell in made.sheet.every() if cell.method == made.lead]
    shown = cells[0]
    pixels = overlay(shown.map, shown.picture, look.how, look.opacity)
    said = [f"{cell.target}: {cell.account}" for cell in cells]
    lines = "".join(f"<small>{escape(line)}</small>" for line in said)
    alt = f"{shown.method} of {made.record.id} for {shown.target}"
    return (
        f'<li><a href="{quote(file)}"><img src="{_thumbnail(pixels)}" loading="lazy" '
        f'alt="{escape(alt)}">{escape(Path(made.record.id).name)}{lines}</a></li>'
    )


def _thumbnail(pixels: Pixels) -> str:
    """Pixels, made small, as an address that holds the file."""
    from PIL import Image

    image = Image.fromarray(pixels)
    image.thumbnail((_SIDE, _SIDE))
    file = BytesIO()
    image.save(file, "jpeg", quality=85)
    return f"data:image/jpeg;base64,{b64encode(file.getvalue()).decode()}"
