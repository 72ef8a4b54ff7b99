"""An address: the hash of everything that a piece of work was made from."""

from __future__ import annotations

import hashlib
import json

__all__ = ["address", "canonical"]


def canonical(value: object) -> str:
    """The one JSON text of a value: keys sorted, no spaces.

    >>> canonical({"b": 1, "a": (2, "é")})
    '{"a":[2,"é"],"b":1}'
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def address(value: object) -> str:
    """SHA-256 of the canonical JSON of `value`, in hexadecimal.

    >>> address({"a": 1, "b": 2}) == address({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(canonical(value).encode()).hexdigest()
