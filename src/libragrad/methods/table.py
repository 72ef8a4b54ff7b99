"""The one table of methods, for API, command line, page and documents. To add one, add its line."""

from __future__ import annotations

import difflib

from libragrad.errors import MethodError
from libragrad.methods.attcat import ATTCAT
from libragrad.methods.decompx import DECOMPX
from libragrad.methods.fullgrad import FULLGRAD
from libragrad.methods.fullgrad_plus import FULLGRAD_BY_LAYERS, FULLGRAD_PLUS
from libragrad.methods.genatt import GENATT
from libragrad.methods.gradcam import GRADCAM, GRADCAM_PLUS
from libragrad.methods.hirescam import HIRESCAM
from libragrad.methods.input_x_grad import INPUT_X_GRAD
from libragrad.methods.layercam import LAYERCAM
from libragrad.methods.lrp import ALI, ATTN, CP
from libragrad.methods.method import Method
from libragrad.methods.random import RANDOM
from libragrad.methods.rawatt import RAWATT
from libragrad.methods.rollout import ROLLOUT
from libragrad.methods.tokentm import TOKENTM
from libragrad.methods.xgradcam import XGRADCAM, XGRADCAM_PLUS

METHODS: dict[str, Method] = {
    method.key: method
    for method in (
        FULLGRAD_PLUS,
        FULLGRAD_BY_LAYERS,
        FULLGRAD,
        INPUT_X_GRAD,
        HIRESCAM,
        LAYERCAM,
        GRADCAM,
        GRADCAM_PLUS,
        XGRADCAM,
        XGRADCAM_PLUS,
        ATTCAT,
        GENATT,
        TOKENTM,
        RAWATT,
        ROLLOUT,
        DECOMPX,
        ALI,
        CP,
        ATTN,
        RANDOM,
    )
}
"""Every method by its key, the default first."""


def method_of(name: str | Method) -> Method:
    """Return a method by its key or its title, in any spelling of case, blanks and signs.

    >>> method_of("FullGrad+").key, method_of("Input×Grad").key
    ('fullgrad+', 'input_x_grad')
    """
    if isinstance(name, Method):
        return name
    if not isinstance(name, str):
        raise MethodError(
            f"a method is a name or a Method, such as {FULLGRAD_PLUS.key!r}; got {name!r}"
        )
    known = {_plain(key): method for key, method in METHODS.items()}
    known |= {_plain(method.title): method for method in METHODS.values()}
    found = known.get(_plain(name))
    if found is not None:
        return found
    near = difflib.get_close_matches(_plain(name), known, n=3)
    hint = " or ".join(dict.fromkeys(repr(known[key].key) for key in near))
    raise MethodError(
        f"there is no method {name!r}{f'; did you mean {hint}?' if hint else '.'} "
        f"Methods are {', '.join(METHODS)}."
    )


def _plain(name: str) -> str:
    return name.lower().replace("×", "x").translate({ord(c): None for c in " _-"})
