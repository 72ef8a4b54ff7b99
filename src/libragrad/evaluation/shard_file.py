"""A finished shard as one Parquet file that knows whether it is whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from libragrad.evaluation.address import canonical
from libragrad.evaluation.cell import FIELDS
from libragrad.evaluation.plan import Shard
from libragrad.evaluation.row import Row

__all__ = ["SCHEMA", "CorruptShardError", "decode", "encode", "items_of", "to_table"]

_DELETION = pa.struct(
    [
        ("prediction", pa.list_(pa.int32())),
        ("label_probability", pa.list_(pa.float64())),
        ("predicted_probability", pa.list_(pa.float64())),
    ]
)

_CELL = [(name, pa.int64() if name == "seed" else pa.string()) for name in FIELDS]

SCHEMA = pa.schema(
    [
        ("item", pa.string()),
        *(column for column in _CELL if column[0] != "samples"),
        ("image", pa.string()),
        ("error", pa.string()),
        ("label", pa.int32()),
        ("predicted", pa.int32()),
        ("masking", pa.string()),
        ("removed", pa.list_(pa.float64())),
        ("most", _DELETION),
        ("least", _DELETION),
        *(
            (name, pa.float64())
            for name in (
                "y",
                "total",
                "unattributed",
                "average_precision",
                "pointing_game",
                "mass_accuracy",
            )
        ),
    ]
)
"""The columns of a shard: the item's address, the cell, the image, and what was measured."""

_MADE_FROM, _CHECKSUM = b"libragrad.made_from", b"libragrad.sha256"


class CorruptShardError(Exception):
    """A shard file is cut short or altered; the message says how that was seen."""


def to_table(shard: Shard, rows: Iterable[Row]) -> pa.Table:
    """The rows as a table, cell by cell, image by image, whatever order they came in."""
    named = {
        cell: {**cell.identity(), "item": item}
        for cell, item in zip(shard.cells, shard.items, strict=True)
    }
    cells = {cell: place for place, cell in enumerate(shard.cells)}
    images = {image: place for place, image in enumerate(shard.records)}
    ordered = sorted(rows, key=lambda row: (cells[row.cell], images[row.image]))
    records = [
        {
            **vars(row),
            "most": row.most and vars(row.most),
            "least": row.least and vars(row.least),
            **named[row.cell],
        }
        for row in ordered
    ]
    table = pa.Table.from_pylist(records, schema=SCHEMA)
    made_from = {
        "address": shard.address,
        "items": shard.items,
        "cells": [cell.identity() for cell in shard.cells],
        "records": shard.records,
        "manifest": dict(shard.manifest),
    }
    return table.replace_schema_metadata({_MADE_FROM: canonical(made_from).encode()})


def encode(table: pa.Table) -> bytes:
    """The table as the bytes of a Parquet file, with the checksum of its content."""
    made_from = table.schema.metadata[_MADE_FROM]
    metadata = {_MADE_FROM: made_from, _CHECKSUM: _checksum(table).encode()}
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(metadata), sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode(data: bytes, address: str) -> pa.Table:
    """The table in a shard file of that address; `CorruptShardError` unless it is whole."""
    try:
        table = pq.read_table(pa.BufferReader(data), use_threads=False)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptShardError(f"it cannot be read: {str(error).splitlines()[0]}") from error
    metadata = table.schema.metadata or {}
    if not table.schema.equals(SCHEMA):
        raise CorruptShardError("its columns are not those of a shard")
    if metadata.get(_CHECKSUM, b"").decode(errors="replace") != _checksum(table):
        raise CorruptShardError("its checksum is not that of its content")
    if _made_from(table)["address"] != address:
        raise CorruptShardError("its content belongs to another address")
    return table


def items_of(table: pa.Table) -> Sequence[str]:
    """The addresses of the items in a shard."""
    items: list[str] = _made_from(table)["items"]
    return items


def _made_from(table: pa.Table) -> dict[str, Any]:
    made_from: dict[str, Any] = json.loads(table.schema.metadata[_MADE_FROM])
    return made_from


def _checksum(table: pa.Table) -> str:
    """SHA-256 of what the table was made from and of every value in it."""
    digest = hashlib.sha256((table.schema.metadata or {}).get(_MADE_FROM, b""))
    for name, column in zip(table.column_names, table.combine_chunks().columns, strict=True):
        digest.update(name.encode())
        for chunk in column.chunks:
            _feed(digest, chunk)
    return digest.hexdigest()


def _feed(digest: Any, values: pa.Array) -> None:
    digest.update(values.is_null().to_numpy(zero_copy_only=False).tobytes())
    if pa.types.is_struct(values.type):
        for part in values.flatten():
            _feed(digest, part)
    elif pa.types.is_list(values.type):
        digest.update(values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).tobytes())
        _feed(digest, values.flatten())
    elif pa.types.is_string(values.type):
        digest.update(canonical(values.to_pylist()).encode())
    else:
        digest.update(values.fill_null(0).to_numpy(zero_copy_only=False).tobytes())
