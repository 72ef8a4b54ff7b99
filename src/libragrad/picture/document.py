"""An HTML file that holds all it needs and may not ask for more."""

from __future__ import annotations

from html import escape
from importlib.resources import files

__all__ = ["document", "resource"]

# Said to the browser too, so that not even a mistake could load anything.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def document(title: str, body: str, style: str, script: str = "") -> str:
    """A page with this title (text) and body (HTML).

    >>> document("a < b", "<p>c</p>", "").splitlines()[0]
    '<!doctype html>'
    """
    code = f"<script>\n{script}</script>\n" if script else ""
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n{code}</body>\n</html>\n"
    )


def resource(name: str) -> str:
    """The text of a file of this package."""
    return files("libragrad.picture").joinpath(name).read_text(encoding="utf-8")
