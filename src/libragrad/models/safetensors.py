"""Read and write the safetensors format with PyTorch alone.

A file is the header's length (8 bytes, little-endian), the header (JSON: a tensor's name to its
`dtype`, `shape` and `data_offsets`), and the tensors' bytes, in row-major order. There is no code
in it, so nothing runs when a file is read. https://github.com/huggingface/safetensors
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

_DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


def read(path: Path) -> dict[str, Tensor]:
    """Every tensor in the file, by name.

    A file that is cut short, or is not in this format, raises a `ValueError` that names it.
    """
    raw = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(raw[:8], "little")
    try:
        if start > len(raw):
            raise ValueError(f"a header of {start - 8} bytes announced, {len(raw)} bytes there")
        header: dict[str, Any] = json.loads(raw[8:start])
        header.pop("__metadata__", None)
        return {name: _tensor(raw, start, **entry) for name, entry in header.items()}
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        raise ValueError(
            f"{path} is no complete safetensors file ({error}): get it again."
        ) from error


def write(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write `tensors`; the same tensors give the same bytes."""
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    end = 0
    # The widest types come first, so that each tensor begins at a multiple of its item's size.
    for name in sorted(tensors, key=lambda name: (-tensors[name].element_size(), name)):
        tensor = tensors[name].detach().cpu().contiguous()
        if tensor.dtype not in _NAMES:
            kinds = ", ".join(_DTYPES)
            raise ValueError(f"{name!r} is {tensor.dtype}, which is none of {kinds}: convert it.")
        parts.append(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
        begin, end = end, end + len(parts[-1])
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


def _tensor(
    raw: bytearray, start: int, dtype: str, shape: list[int], data_offsets: list[int]
) -> Tensor:
    kind, count = _DTYPES[dtype], prod(shape)
    begin, end = data_offsets
    if min(shape, default=0) < 0 or begin < 0 or end - begin != count * kind.itemsize:
        raise ValueError(f"a {dtype} tensor of shape {shape} cannot lie at {data_offsets}")
    if start + end > len(raw):
        raise ValueError(f"{start + end} bytes announced, {len(raw)} there")
    if not count:
        return torch.empty(shape, dtype=kind)
    # The slice is a copy of its own: aligned, writable, and the file's buffer can go.
    return torch.frombuffer(raw[start + begin : start + end], dtype=kind).reshape(shape)
