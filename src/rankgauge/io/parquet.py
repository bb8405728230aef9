"""
Parquet: the rows of a Parquet file, some row groups at a time.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from rankgauge.io.columns import Kind, find_columns
from rankgauge.io.files import open_file, reading
from rankgauge.io.row_groups import row_groups
from rankgauge.io.rows import Ranged, Rows, selection

__all__ = ["parquet_rows"]

_PIECE = 1 << 18
"""How many rows are held at once, unless a row group has more."""


def parquet_rows(path: Path, kind: Kind, columns: Mapping[str, str] | None, *, name: str) -> Rows:
    """Return the rows of a Parquet file, of which only the columns in question are read."""
    with open_file(path, name=name) as opened:
        is_plain = opened.path is not None
        source = path if is_plain else io.BytesIO(opened.stream.read())
    with reading(name, path, form="Parquet"):
        scan = pl.scan_parquet(source, glob=False)
        schema = scan.collect_schema()
    found = find_columns(list(schema), kind, columns, source=name)
    table = scan.select(selection(schema, found, kind, source=name))
    groups = row_groups(path) if is_plain else None
    if groups is None or len(groups) < 2:
        with reading(name, path, form="Parquet"):
            return Ranged.of(table.collect(), name)

    def read(begin: int, end: int, names: Sequence[str]) -> pl.DataFrame:
        with reading(name, path, form="Parquet"):
            return table.select(names).slice(begin, end - begin).collect()

    return Ranged(name, _edges(groups), read, list(found.by_role))


def _edges(groups: Sequence[int]) -> list[int]:
    """Return where to read anew: at row groups, several of them at once where they are small."""
    edges, row = [0], 0
    for rows in groups:
        if row > edges[-1] and row + rows - edges[-1] > _PIECE:
            edges.append(row)
        row += rows
    return [*edges, row]
