"""From attribution to picture, page and text.

    sheet(explanations)       what is drawn where, and which maps share a colour scale
    figure(sheet, look)       a matplotlib figure
    page(sheet, look)         one self-contained HTML file
    save(sheet, path, look)   .png, .svg, .html
    show(sheet, look)         the notebook, or the terminal as well as it can

An explanation is anything with the members of `Explained`; a `Look` names the recipe that turns its
values into colours. Texts have `words_page` and `show_words`. Matplotlib and Pillow, the extra
`pictures`, are imported where they are needed.

>>> from types import SimpleNamespace
>>> import torch
>>> explanation = SimpleNamespace(
...     map=torch.eye(2)[None],
...     tokens=torch.eye(2).flatten()[None],
...     unattributed=torch.zeros(1),
...     output=torch.tensor([2.0]),
...     completeness_error=torch.zeros(1),
...     labels=("zebra",),
...     name="Libra FullGrad+",
...     pictures=None,
... )
>>> show(sheet([explanation]), way="ascii", columns=80)
Libra FullGrad+
<BLANKLINE>
zebra
 9 .
 . 9
100.00 % of the
logit accounted for
<BLANKLINE>
9 is >= 1, 0 is 0: attribution of each patch
"""

from libragrad.picture.account import account
from libragrad.picture.colour import colourise, overlay
from libragrad.picture.explained import Explained
from libragrad.picture.figure import figure
from libragrad.picture.look import PAPER, Look
from libragrad.picture.notebook import framed
from libragrad.picture.page import page
from libragrad.picture.recipe import RECIPES, Limits, Recipe, find_recipe, limits, positions
from libragrad.picture.save import figure_file, save, write
from libragrad.picture.sheet import SCALES, Cell, Sheet, before_after, sheet
from libragrad.picture.show import WAYS, show, show_words
from libragrad.picture.terminal import Terminal, terminal
from libragrad.picture.words import words_page, words_terminal

__all__ = [
    "PAPER",
    "RECIPES",
    "SCALES",
    "WAYS",
    "Cell",
    "Explained",
    "Limits",
    "Look",
    "Recipe",
    "Sheet",
    "Terminal",
    "account",
    "before_after",
    "colourise",
    "figure",
    "figure_file",
    "find_recipe",
    "framed",
    "limits",
    "overlay",
    "page",
    "positions",
    "save",
    "sheet",
    "show",
    "show_words",
    "terminal",
    "words_page",
    "words_terminal",
    "write",
]
