"""Queries over the shards of a results folder, in DuckDB."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from libragrad.evaluation.cell import FIELDS, Cell
from libragrad.evaluation.report import Failure
from libragrad.evaluation.shard_file import SCHEMA
from libragrad.evaluation.store import Store

__all__ = ["Measured", "failures", "measured"]

_IDENTITY = ", ".join(name for name in FIELDS if name != "samples")

# A row that was tried again stands beside the failed one: the one with a result counts, once.
_ROWS = """
    CREATE VIEW rows AS
    SELECT * FROM shards
    WHERE item IN (SELECT item FROM wanted)
    QUALIFY row_number() OVER (PARTITION BY item, image ORDER BY error IS NOT NULL) = 1
"""

_FAILURES = """
    SELECT model, dataset, image, error, count(*)::INTEGER
    FROM rows WHERE error IS NOT NULL
    GROUP BY ALL ORDER BY ALL
"""

_CELLS = f"""
    SELECT {_IDENTITY}, count(*)::INTEGER, count(error)::INTEGER
    FROM rows GROUP BY ALL ORDER BY ALL
"""

_CELL_ROWS = f"""
    SELECT * FROM rows
    WHERE error IS NULL AND ({_IDENTITY}) = ({", ".join("?" * (len(FIELDS) - 1))})
    ORDER BY image
"""


@dataclass(frozen=True)
class Measured:
    """The finished rows of a cell.

    Attributes:
        cell: which cell; `samples` is the number of its rows, failed ones included.
        rows: the rows with a result, ordered by image.
        failed: how many rows failed.
    """

    cell: Cell
    rows: pa.Table
    failed: int


def failures(store: Store, items: Iterable[str]) -> tuple[Failure, ...]:
    """The images that failed, each cause once."""
    found = _connect(store, items).execute(_FAILURES).fetchall()
    return tuple(Failure(*row) for row in found)


def measured(store: Store, items: Iterable[str]) -> tuple[Measured, ...]:
    """What the store holds of these items, cell by cell."""
    connection = _connect(store, items)
    cells = connection.execute(_CELLS).fetchall()
    return tuple(
        Measured(
            Cell(**dict(zip(_IDENTITY.split(", "), identity, strict=True)), samples=count),
            connection.sql(_CELL_ROWS, params=identity).to_arrow_table(),
            failed,
        )
        for *identity, count, failed in cells
    )


def _connect(store: Store, items: Iterable[str]) -> duckdb.DuckDBPyConnection:
    wanted = sorted(set(items))
    tables = [table.replace_schema_metadata() for table in store.tables(wanted)]
    connection = duckdb.connect()
    connection.register("shards", pa.concat_tables(tables) if tables else SCHEMA.empty_table())
    connection.register("wanted", pa.table({"item": pa.array(wanted, pa.string())}))
    connection.execute(_ROWS)
    return connection
