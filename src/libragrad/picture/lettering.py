"""Text that fits: measured in its typeface, wrapped, and shortened where it must be."""

from __future__ import annotations

from functools import lru_cache

from libragrad.picture.extra import pictures_extra

__all__ = ["LEADING", "fit_size", "height", "typeface", "width", "wrap"]

LEADING = 1.25
"""Distance of two lines as matplotlib counts it, in heights of their letters."""

# Hinting makes a drawn line up to some percent wider than its outline.
_HINTING = 1.05
_LINE = 1.35

# Matplotlib brings DejaVu Sans. The others, where installed, know the scripts that it lacks.
_WORLD = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Emoji",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans",
    "Arial Unicode MS",
)


@lru_cache(maxsize=1)
def typeface() -> tuple[str, ...]:
    """The families to draw with, the first that has a character draws it."""
    with pictures_extra():
        from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return ("DejaVu Sans", *(family for family in _WORLD if family in installed))


def printable(text: str) -> str:
    r"""One line in which a character that no family has is an empty box.

    >>> printable("zebra\nand\telephant")
    'zebra and elephant'
    """
    known = _characters()
    line = " ".join(text.split()).replace(" %", "\N{NO-BREAK SPACE}%")
    return "".join(c if ord(c) in known else "□" for c in line)


@lru_cache(maxsize=1)
def _characters() -> frozenset[int]:
    with pictures_extra():
        from matplotlib.font_manager import FontProperties, findfont, get_font

    files = [findfont(FontProperties(family=[family])) for family in typeface()]
    return frozenset(code for file in files for code in get_font(file).get_charmap())


@lru_cache(maxsize=4096)
def width(text: str, size: float, weight: str = "normal") -> float:
    """The width of one line in points, as wide as any hinting may draw it."""
    if not text:
        return 0.0
    with pictures_extra():
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import TextToPath

    properties = FontProperties(family=list(typeface()), size=size, weight=weight)
    outline = TextToPath().get_text_width_height_descent(text, properties, ismath=False)
    return float(outline[0]) * _HINTING


def height(lines: int, size: float) -> float:
    """The height of so many lines in points.

    >>> height(0, 10.0), height(2, 10.0)
    (0.0, 27.0)
    """
    return size * lines * _LINE


def wrap(text: str, room: float, size: float, lines: int, weight: str = "normal") -> list[str]:
    """At most so many lines, none wider than `room` points; what does not fit ends in an ellipsis.

    >>> wrap("African bush elephant", room=70, size=10, lines=2)
    ['African bush', 'elephant']
    >>> wrap("African bush elephant", room=70, size=10, lines=1)
    ['African bus…']
    """
    words = printable(text).split(" ") if text.strip() else []
    wrapped: list[str] = []
    while words and len(wrapped) < lines:
        taken = _longest(words, room, size, weight)
        if len(wrapped) == lines - 1 and taken < len(words):
            wrapped.append(_shorten(" ".join(words), room, size, weight))
            break
        if taken == 0:
            head = _cut(words[0], room, size, weight)
            wrapped.append(head)
            words[0] = words[0][len(head) :]
        else:
            wrapped.append(" ".join(words[:taken]))
            words = words[taken:]
    return wrapped


def _longest(words: list[str], room: float, size: float, weight: str) -> int:
    """How many of the words fit into one line."""
    count = 0
    while count < len(words) and width(" ".join(words[: count + 1]), size, weight) <= room:
        count += 1
    return count


def _cut(word: str, room: float, size: float, weight: str) -> str:
    """The longest beginning that fits, at least one character."""
    end = len(word)
    while end > 1 and width(word[:end], size, weight) > room:
        end -= 1
    return word[:end]


def _shorten(text: str, room: float, size: float, weight: str) -> str:
    end = len(text)
    while end and width(text[:end].rstrip() + "…", size, weight) > room:
        end -= 1
    return text[:end].rstrip() + "…"


def fit_size(texts: list[str], room: float, most: float) -> float:
    """The size, at most `most` points, at which the widest of the texts is `room` points wide."""
    widest = max((width(text, most) for text in texts), default=0.0)
    return most if widest <= room else most * room / widest
