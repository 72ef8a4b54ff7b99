"""Numbers as people read them."""

from __future__ import annotations

import math
import re

__all__ = ["numeral", "plain"]

_ASCII = {"−": "-", "·10": "e", "≥": ">=", "≤": "<=", "→": "->", "…": "...", "∞": "inf"}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def numeral(value: float, digits: int = 3) -> str:
    """A value to so many significant digits, with a true minus and powers of ten where needed.

    >>> numeral(-0.01234), numeral(1234.5), numeral(0.0), numeral(2.0)
    ('−0.0123', '1230', '0', '2')
    >>> numeral(3.14159e-6), numeral(-2e9), numeral(1e-5), numeral(float("nan"))
    ('3.14·10⁻⁶', '−2·10⁹', '10⁻⁵', 'not a number')
    """
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    if -4 <= int(power) < 6:
        places = max(0, digits - 1 - int(power))
        shown = f"{float(f'{mantissa}e{power}'):.{places}f}"
        shown = shown.rstrip("0").rstrip(".") if places else shown
    else:
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        factor = {"1": "", "-1": "-"}.get(mantissa, f"{mantissa}·")
        shown = f"{factor}10{str(int(power)).translate(_SUPERSCRIPT)}"
    return shown.replace("-", "−")


def plain(text: str) -> str:
    """The same in ASCII, as far as this package's own symbols go.

    >>> plain("≥ 3.14·10⁻⁶ → −10⁷")
    '>= 3.14e-6 -> -1e7'
    """
    for symbol, spelled in _ASCII.items():
        text = text.replace(symbol, spelled)
    bare = re.sub(r"(?<![\d.e])10(?=[⁻⁰¹²³⁴⁵⁶⁷⁸⁹])", "1e", text)
    return bare.translate(
        {ord(raised): flat for raised, flat in zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True)}
    )
