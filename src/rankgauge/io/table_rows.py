"""
Rows: the columns that are read from a table, some consecutive rows at a time, whatever library or reader it is from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from rankgauge.catalog import Claim
from rankgauge.columns import Ints
from rankgauge.errors import DataError, Problem
from rankgauge.io.field_names import NESTED, Columns, Kind, find_columns
from rankgauge.io.file_records import foreign_records
from rankgauge.io.files import open_file
from rankgauge.io.problems import SUBJECTS, refuse, unreadable
from rankgauge.io.rating_files import HINT
from rankgauge.io.short_ids import short_views
from rankgauge.plugin.declarations import Reader, Record
from rankgauge.samples import Fault

__all__ = [
    "Frame",
    "Ranged",
    "Rows",
    "frame_of_tuples",
    "query_begins",
    "rows_of_reader",
    "rows_of_records",
    "rows_of_table",
    "selection",
    "unnested",
    "worth",
]

_PIECE = 1 << 18  # how many rows of a frame are handled at once
_SMALL = 1 << 17  # a table with fewer rows is not worth a second thread
_LOOK, _LONGEST_LOOK = 1 << 12, 1 << 20
_INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
_TEXTS = (pl.String, pl.Categorical, pl.Enum, pl.Binary)


class Frame(NamedTuple):
    """
    Consecutive rows of a table.

    The columns are `query` and `document` (strings or integers), `value` (numbers, or what a file wrote), of judgments
    for intents `intent` (strings), and of runs that state them `rank` (as `value`, in whose place it may be).
    """

    rows: pl.DataFrame
    first: int  # the number of the first row, from 0
    line: int | None = None  # the line of the first row, where rows are lines


class Rows(Protocol):
    """A table that can be read as often as needed."""

    name: str  # the file, for messages; empty for a table given in Python

    def parts(self, count: int) -> list[Iterator[Frame]]:
        """Return at most *count* parts, which begin with a query each."""

    def frames(self) -> Iterator[Frame]:
        """Yield the whole table in order."""


def selection(schema: Mapping[str, pl.DataType], columns: Columns, kind: Kind, *, source: str = "") -> list[pl.Expr]:
    """Return an expression for each column of a frame; a `DataError` names all columns of the wrong type."""
    problems = []
    selected = []
    numbers = {"value": "grades" if kind == "qrels" else "scores", "rank": "ranks"}
    for role, name in columns.by_role.items():
        column, dtype = pl.col(name), schema[name]
        if role in numbers:
            is_spare = role == "rank" and columns.value is not None
            if columns.letters and isinstance(dtype, _TEXTS):
                column = worth(column.cast(pl.String), columns.letters)
            elif not (dtype.is_numeric() or is_spare or (dtype == pl.Boolean and kind == "qrels")):
                hint = f", or say {HINT}" if kind == "qrels" else ""
                message = f"{numbers[role]} in column {name!r} are of type {dtype}; make them numbers{hint}"
                problems.append(Problem(message, source))
            selected.append(column.alias(role))
            continue
        if not isinstance(dtype, (*_INTEGERS, *_TEXTS)):
            hint = "; whole numbers become floats in pandas if one is missing" if dtype.is_float() else ""
            problem = f"ids in column {name!r} are of type {dtype}; make them strings or integers{hint}"
            problems.append(Problem(problem, source))
        is_kept = isinstance(dtype, (*_INTEGERS, pl.String)) and role != "intent"
        selected.append((column if is_kept else column.cast(pl.String)).alias(role))
    refuse("the table cannot be used:", problems)
    return selected


def worth(column: pl.Expr, letters: Mapping[str, float]) -> pl.Expr:
    """Return grades that are texts, with the number in place of each letter that is worth one."""
    return column.str.strip_chars().replace({letter: repr(number) for letter, number in letters.items()})


class Ranged:
    """Rows of which any range can be read."""

    def __init__(
        self,
        name: str,
        edges: Sequence[int],
        read: Callable[[int, int, Sequence[str]], pl.DataFrame],
        columns: Sequence[str] = ("query", "document", "value"),
        line: int | None = None,
    ) -> None:
        """
        Take *edges*, where ranges begin and the last one ends, and what reads the named *columns* of a range.

        The *line* is that of the first row, if each row is a line.
        """
        self.name = name
        self._line = line
        self._columns = columns
        self._edges = edges
        self._read = read

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str = "", *, line: int | None = None) -> Ranged:
        """Return the rows of a frame that has the columns of a `Frame`."""

        def read(begin: int, end: int, names: Sequence[str]) -> pl.DataFrame:
            return frame.select(names).slice(begin, end - begin)

        return cls(name, (0, frame.height), read, frame.columns, line)

    def parts(self, count: int) -> list[Iterator[Frame]]:
        """Return at most *count* parts, which begin with a query each."""
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
                    line = None if self._line is None else self._line + first + at
                    yield Frame(rows.slice(at, _PIECE), first + at, line)

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


def rows_of_table(table: Any, kind: Kind, columns: Mapping[str, str] | None) -> Rows:  # noqa: ANN401  # any library's
    """Return the rows of a polars, pandas or Arrow table; a LazyFrame is collected, of the columns in question only."""
    if isinstance(table, pl.LazyFrame):
        frame = table
    elif isinstance(table, pl.DataFrame):
        frame = table.lazy()
    elif type(table).__module__.partition(".")[0] == "pandas":
        names = [str(name) for name in getattr(table, "columns", ())]
        frame = _of_pandas(table, names, find_columns(names, kind, columns)).lazy()
    else:
        frame = _of_arrow(table).lazy()
    frame = unnested(frame, kind)
    schema = frame.collect_schema()
    roles = find_columns(list(schema), kind, columns)
    try:
        return Ranged.of(frame.select(selection(schema, roles, kind)).collect())
    except pl.exceptions.PolarsError as error:  # bytes that are no text, or what a LazyFrame does
        raise _unusable(type(table).__name__, str(error)) from error


_NESTED = {NESTED: 1.0, "negative_passages": 0.0}
"""The columns in which Tevatron nests judged passages, and their grades."""

_NESTED_IDS = ("docid", "doc_id", "_id", "id")


def unnested(frame: pl.LazyFrame, kind: Kind) -> pl.LazyFrame:
    """Return judgments with a row for each passage that a query nests; anything else as it is."""
    schema = frame.collect_schema()
    parts = []
    for name, grade in _NESTED.items() if kind == "qrels" and NESTED in schema else ():
        inner = getattr(schema.get(name), "inner", None)
        known = (
            [field.name for field in inner.fields if field.name in _NESTED_IDS] if isinstance(inner, pl.Struct) else []
        )
        if known:
            others = pl.exclude(*_NESTED)
            rows = frame.select(others, pl.col(name)).explode(name).drop_nulls(name)
            document = pl.col(name).struct.field(known[0]).cast(pl.String).alias("doc_id")
            parts.append(rows.select(others, document, pl.lit(grade).alias("relevance")))
    return pl.concat(parts) if parts else frame


def frame_of_tuples(rows: Sequence[Any]) -> pl.DataFrame:
    """Return named tuples with the same fields as a frame."""
    if len({row._fields for row in rows}) > 1:
        raise _unusable("list of named tuples", "they have different fields")
    columns = zip(rows[0]._fields, zip(*rows, strict=True), strict=True)
    try:
        return pl.DataFrame({name: pl.Series(name, values, strict=False) for name, values in columns})
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise _unusable("list of named tuples", str(error)) from error


def _of_arrow(table: Any) -> pl.DataFrame:  # noqa: ANN401  # whatever offers a stream
    try:
        return pl.DataFrame(table)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise _unusable(type(table).__name__, str(error)) from error


def _of_pandas(table: Any, names: Sequence[str], roles: Columns) -> pl.DataFrame:  # noqa: ANN401  # pandas is no dependency
    labels = list(table.columns)
    wanted = {name: table[labels[names.index(name)]] for name in roles.by_role.values()}
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
    return DataError("the table cannot be used:", [Problem(f"the columns of the {what} cannot be read: {why}")])


_MOST_PROBLEMS = 50
_NAMED = 1000
"""How many records are looked at for the names of columns."""


def rows_of_reader(
    claim: Claim[Reader], path: Path, kind: Kind, columns: Mapping[str, str] | None, *, name: str
) -> Rows:
    """Return the records of a file, as a reader yields them, as rows of a table."""
    with open_file(path, name=name, is_text=False) as source:
        by = f"of reader {claim.declaration.name!r} (by {claim.provider}) "
        return rows_of_records(foreign_records(claim, source), kind, columns, name=name, by=by)


def rows_of_records(
    records: Iterator[Record], kind: Kind, columns: Mapping[str, str] | None, *, name: str, by: str = ""
) -> Rows:
    """Return records as rows of a table, of which the columns in question are held; *by* says who yielded them."""
    problems: list[Problem] = []
    rows = _mappings(records, name, problems)
    if kind == "qrels":
        rows = _unnested_rows(rows)
    first = list(islice(rows, _NAMED))
    names = list(dict.fromkeys(str(key) for row, _ in first for key in row))
    roles = find_columns(names, kind, columns, source=name) if names else None
    values: dict[str, list[Any]] = {column: [] for column in roles.by_role.values()} if roles else {}
    lines: list[int | None] = []
    for row, line in chain(first, rows):
        lines.append(line)
        for column, items in values.items():
            items.append(row.get(column))
    refuse(f"{SUBJECTS[kind]} cannot be read:", problems)
    roles = roles or find_columns(names, kind, columns, source=name)
    try:
        frame = pl.DataFrame({column: pl.Series(_alike(items), strict=True) for column, items in values.items()})
        selected = frame.lazy().select(selection(frame.schema, roles, kind, source=name)).collect()
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise unreadable(name, f"the rows {by}make no table: {error}") from error
    begin = lines[0] if lines and lines[0] and lines[-1] == lines[0] + len(lines) - 1 else None
    return Ranged.of(selected, name, line=begin)


def _unnested_rows(
    rows: Iterator[tuple[Mapping[str, Any], int | None]],
) -> Iterator[tuple[Mapping[str, Any], int | None]]:
    """Yield a row for each passage that a query nests, and other rows as they are."""
    for row, line in rows:
        if not isinstance(row.get(NESTED), list):
            yield row, line
            continue
        others = {name: value for name, value in row.items() if name not in _NESTED}
        for name, grade in _NESTED.items():
            for passage in row.get(name) or ():
                ids = (passage.get(key) for key in _NESTED_IDS) if isinstance(passage, Mapping) else ()
                document = next((each for each in ids if each is not None), None)
                yield {**others, "doc_id": document, "relevance": grade}, None


def _mappings(
    records: Iterator[Record], name: str, problems: list[Problem]
) -> Iterator[tuple[Mapping[str, Any], int | None]]:
    """Yield records with their lines; end after some that are no rows."""
    for record in records:
        value = record.value
        if isinstance(value, Mapping):
            yield value, record.line
            continue
        flaw = value.reason if isinstance(value, Fault) else f"expected a row, found {type(value).__name__}"
        problems.append(Problem(flaw, name, record.line, record.path))
        if len(problems) >= _MOST_PROBLEMS:
            return


def _alike(items: Sequence[Any]) -> Sequence[Any]:
    """Return the values of a column as one type: whole numbers beside others as floats, beside texts as texts."""
    types = set(map(type, items)) - {type(None)}
    if types == {int, float}:
        return [None if item is None else float(item) for item in items]
    return [None if item is None else str(item) for item in items] if types == {int, str} else items
