"""
Rows: the three columns that are read from a table, some consecutive rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import polars as pl

from rankgauge.columns import Ints
from rankgauge.errors import DataError, Problem
from rankgauge.io.columns import Columns, Kind
from rankgauge.io.views import short_views

__all__ = ["Frame", "Ranged", "Rows", "query_begins", "selection"]

_PIECE = 1 << 18
"""How many rows of a frame are handled at once."""

_SMALL = 1 << 17
"""A table with fewer rows is not worth a second thread."""

_LOOK, _LONGEST_LOOK = 1 << 12, 1 << 20
_INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
_TEXTS = (pl.String, pl.Categorical, pl.Enum, pl.Binary)


class Frame(NamedTuple):
    """
    Consecutive rows of a table.

    Attributes:
        rows: The columns `query` and `document` (strings or integers) and `value` (numbers, or what a file wrote); of
            judgments for intents also `intent` (strings).

        first: The number of the first row, from 0.

        line: The line of the first row, where rows are lines.
    """

    rows: pl.DataFrame
    first: int
    line: int | None = None


class Rows(Protocol):
    """
    A table that can be read as often as needed.

    Attributes:
        name: The file, for messages; empty for a table given in Python.
    """

    name: str

    def parts(self, count: int) -> list[Iterator[Frame]]:
        """Return iterators over parts that begin with a query each, *count* at the most."""
        ...

    def frames(self) -> Iterator[Frame]:
        """Yield the whole table in order."""
        ...


def selection(schema: Mapping[str, pl.DataType], columns: Columns, kind: Kind, *, source: str = "") -> list[pl.Expr]:
    """Return an expression for each column of a frame; a `DataError` names all columns of the wrong type."""
    problems = []
    selected = []
    for role, name in columns.by_role.items():
        if role == "value":
            continue
        kept = schema[name]
        if not isinstance(kept, (*_INTEGERS, *_TEXTS)):
            hint = "; whole numbers become floats in pandas where one is missing" if kept.is_float() else ""
            problem = f"ids in column {name!r} are of type {kept}; make them strings or integers{hint}"
            problems.append(Problem(problem, source))
        column = pl.col(name)
        is_kept = isinstance(kept, (*_INTEGERS, pl.String)) and role != "intent"
        selected.append((column if is_kept else column.cast(pl.String)).alias(role))
    kept = schema[columns.value]
    if not (kept.is_numeric() or (kept == pl.Boolean and kind == "qrels")):
        what = "grades" if kind == "qrels" else "scores"
        problems.append(Problem(f"{what} in column {columns.value!r} are of type {kept}; make them numbers", source))
    if problems:
        msg = "the table cannot be used:"
        raise DataError(msg, problems)
    return [*selected, pl.col(columns.value).alias("value")]


class Ranged:
    """Rows of which any range can be read."""

    def __init__(
        self,
        name: str,
        edges: Sequence[int],
        read: Callable[[int, int, Sequence[str]], pl.DataFrame],
        columns: Sequence[str] = ("query", "document", "value"),
    ) -> None:
        """Take *edges*, where ranges begin and the last one ends, and what reads the named *columns* of a range."""
        self.name = name
        self._columns = columns
        self._edges = edges
        self._read = read

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str = "") -> Ranged:
        """Return the rows of a frame that has the columns of a `Frame`."""

        def read(begin: int, end: int, names: Sequence[str]) -> pl.DataFrame:
            return frame.select(names).slice(begin, end - begin)

        return cls(name, (0, frame.height), read, frame.columns)

    def parts(self, count: int) -> list[Iterator[Frame]]:
        """Return iterators over parts that begin with a query each, *count* at the most."""
        height = self._edges[-1]
        cuts = [0]
        for part in range(1, count if height >= _SMALL else 1):
            cut = self._query_begin(max(height * part // count, cuts[-1] + 1))
            if cut is not None and cut < height:
                cuts.append(cut)
        return [self._range(begin, end) for begin, end in zip(cuts, [*cuts[1:], height], strict=True)]

    def frames(self) -> Iterator[Frame]:
        """Yield the whole table in order."""
        return self._range(0, self._edges[-1])

    def _range(self, begin: int, end: int) -> Iterator[Frame]:
        inside = [edge for edge in self._edges if begin < edge < end]
        for first, last in zip([begin, *inside], [*inside, end], strict=True):
            if last > first:
                rows = self._read(first, last, self._columns)
                for at in range(0, rows.height, _PIECE):
                    yield Frame(rows.slice(at, _PIECE), first + at)

    def _query_begin(self, row: int) -> int | None:
        """Return where the next query begins after a row; None if there is none nearby."""
        look = _LOOK
        while look <= _LONGEST_LOOK:
            queries = self._read(row - 1, min(row + look, self._edges[-1]), ("query",))["query"]
            begins = query_begins(queries)
            if len(begins) > 1:
                return row - 1 + int(begins[1])
            look *= 16
        return None


def query_begins(queries: pl.Series) -> Ints:
    """Return the first row of each stretch of rows with the same query, which is never null."""
    if not len(queries):
        return np.empty(0, dtype=np.int64)
    if (views := None if queries.dtype.is_integer() else short_views(queries)) is not None:
        differ = views.differ()
    else:
        numbers = (queries if queries.dtype.is_integer() else queries.rle_id()).to_numpy()
        differ = numbers[1:] != numbers[:-1]
    changes = np.flatnonzero(differ)
    begins: Ints = np.zeros(len(changes) + 1, dtype=np.int64)
    np.add(changes, 1, out=begins[1:])
    return begins
