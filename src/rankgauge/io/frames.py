"""
Frames: the rows of tables given in Python, from any library.

polars frames are used as they are. Everything else comes over Arrow's C stream, which polars reads itself; pandas needs
pyarrow to offer one, so without pyarrow its columns are read one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from rankgauge.errors import DataError, Problem
from rankgauge.io.columns import Columns, Kind, find_columns
from rankgauge.io.rows import Ranged, Rows, selection

__all__ = ["rows_of_table"]


def rows_of_table(table: Any, kind: Kind, columns: Mapping[str, str] | None) -> Rows:  # noqa: ANN401  # any library's
    """Return the rows of a polars, pandas or Arrow table; a LazyFrame is collected, of the columns in question only."""
    if isinstance(table, pl.LazyFrame):
        frame = table
    elif isinstance(table, pl.DataFrame):
        frame = table.lazy()
    elif type(table).__module__.partition(".")[0] == "pandas":
        names = [str(name) for name in getattr(table, "columns", ())]
        found = find_columns(names, kind, columns)
        frame = _of_pandas(table, names, found).lazy()
    else:
        frame = _of_arrow(table).lazy()
    schema = frame.collect_schema()
    found = find_columns(list(schema), kind, columns)
    try:
        return Ranged.of(frame.select(selection(schema, found, kind)).collect())
    except pl.exceptions.PolarsError as error:  # bytes that are no text, or what a LazyFrame does
        raise _unusable(type(table).__name__, str(error)) from error


def _of_arrow(table: Any) -> pl.DataFrame:  # noqa: ANN401  # whatever offers a stream
    try:
        return pl.DataFrame(table)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise _unusable(type(table).__name__, str(error)) from error


def _of_pandas(table: Any, names: Sequence[str], found: Columns) -> pl.DataFrame:  # noqa: ANN401  # pandas is no dependency
    labels = list(table.columns)
    wanted = {name: table[labels[names.index(name)]] for name in found.by_role.values()}
    try:
        return pl.DataFrame({name: pl.from_pandas(column) for name, column in wanted.items()})
    except ImportError:
        return pl.DataFrame([_column(name, column) for name, column in wanted.items()])
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise _unusable("DataFrame", str(error)) from error


def _column(name: str, column: Any) -> pl.Series:  # noqa: ANN401  # pandas is no dependency
    """Return a pandas column without pyarrow."""
    values = column.to_numpy()
    if values.dtype.kind in "iufb":
        return pl.Series(name, values)
    missing = column.isna().tolist()
    items = [None if absent else item for item, absent in zip(column.tolist(), missing, strict=True)]
    try:
        return pl.Series(name, items, strict=True)
    except UnicodeEncodeError as error:
        raise _unusable("DataFrame", f"column {name!r} contains a string that is not valid Unicode: {error}") from error
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise _unusable("DataFrame", f"column {name!r} mixes types: {error}") from error


def _unusable(what: str, why: str) -> DataError:
    msg = "the table cannot be used:"
    return DataError(msg, [Problem(f"the columns of the {what} cannot be read: {why}")])
