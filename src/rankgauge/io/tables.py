"""
Tables: rankings and judgments from columns of ids and numbers, without an object for each row.

A table is read in frames of consecutive rows with the columns `query`, `document` and `value`. What spans frames, the
last query of each, is carried on to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from rankgauge.errors import DataError, Problem
from rankgauge.io.columns import Columns, Kind
from rankgauge.judged import Floats, Ints
from rankgauge.io.views import short_views
from rankgauge.rankings import PADDING, Qrels, RankingBatch, Slices, Words, encoded

__all__ = ["Frame", "Ranged", "Rows", "TableRun", "qrels_of_rows", "selection"]

_ROWS = 1 << 16
"""How many rows a batch has at least, unless there are no more."""

_SMALL = 1 << 17
"""A table with fewer rows is not worth a second thread."""

_LOOK, _LONGEST_LOOK = 1 << 12, 1 << 20
_MOST = 10_000
"""How many problems are told."""

_INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
_TEXTS = (pl.String, pl.Categorical, pl.Enum, pl.Binary)


class Frame(NamedTuple):
    """
    Consecutive rows of a table.

    Attributes:
        rows: The columns `query` and `document` (strings or integers) and `value` (numbers, or what a file wrote).

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
    """
    Return what selects the columns that are read.

    Args:
        schema: The types of the table's columns.

        columns: Which of them are read.

        kind: What the table is.

        source: The file, for messages.

    Returns:
        Expressions for `query`, `document` and `value`.

    Raises:
        DataError: Columns whose types are no ids or numbers, all of them.
    """
    problems = []
    selected = []
    for role, name in (("query", columns.query), ("document", columns.document)):
        kept = schema[name]
        if not isinstance(kept, (*_INTEGERS, *_TEXTS)):
            hint = "; whole numbers become floats in pandas where one is missing" if kept.is_float() else ""
            problem = f"ids in column {name!r} are of type {kept}; make them strings or integers{hint}"
            problems.append(Problem(problem, source))
        column = pl.col(name)
        selected.append((column if isinstance(kept, (*_INTEGERS, pl.String)) else column.cast(pl.String)).alias(role))
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

    def __init__(self, name: str, edges: Sequence[int], read: Callable[[int, int, Sequence[str]], pl.DataFrame]):
        """
        Name rows.

        Args:
            name: The file they come from; empty for a table given in Python.

            edges: Where ranges that are best read at once begin, from 0, and where the last one ends.

            read: Returns the named columns of a range of rows.
        """
        self.name = name
        self._edges = edges
        self._read = read

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str = "") -> Ranged:
        """Return the rows of a frame with the columns `query`, `document` and `value`."""
        return cls(name, (0, frame.height), lambda begin, end, names: frame.select(names).slice(begin, end - begin))

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
                rows = self._read(first, last, ("query", "document", "value"))
                for at in range(0, rows.height, _ROWS):
                    yield Frame(rows.slice(at, _ROWS), first + at)

    def _query_begin(self, row: int) -> int | None:
        """Return where the next query begins behind a row; None where there is none nearby."""
        look = _LOOK
        while look <= _LONGEST_LOOK:
            queries = self._read(row - 1, min(row + look, self._edges[-1]), ("query",))["query"]
            begins = _begins(queries)
            if len(begins) > 1:
                return row - 1 + int(begins[1])
            look *= 16
        return None


class TableRun:
    """
    A run that stands in a table.

    Attributes:
        name: The file; empty for a table given in Python.

        tag: Empty: a table has no tag.

        metadata: Empty.

        notes: Empty.
    """

    def __init__(self, rows: Rows, *, kept: object = None) -> None:
        """
        Name a run.

        Args:
            rows: Its rows.

            kept: What has to live as long as the run does: a temporary file, which goes with it.
        """
        self._kept = kept
        self.name = rows.name
        self.tag = ""
        self.metadata: Mapping[str, Any] = {}
        self.notes: Sequence[str] = ()
        self._rows = rows

    def parts(self, count: int) -> list[Iterator[RankingBatch]]:
        """
        Return iterators that together yield every row once, to be used by a thread each.

        Args:
            count: How many to make at the most.

        Returns:
            The iterators, each over consecutive rows.

        Raises:
            DataError: When used: rows that cannot be used, all of them.
        """
        return [self._batches(part) for part in self._rows.parts(count)]

    def grouped(self) -> Iterator[RankingBatch]:
        """
        Yield every query once, also where its rows stand apart. The whole table is held in memory for that.

        Yields:
            Whole queries; the rows of each in the order of the table.

        Raises:
            DataError: Rows that cannot be used, all of them.
        """
        frames = list(self._rows.frames())
        if frames:
            whole = pl.concat([frame.rows for frame in frames])
            frames.clear()
            whole = whole.sort("query", maintain_order=True)
            yield from self._batches(Ranged.of(whole).frames())

    def _batches(self, frames: Iterator[Frame]) -> Iterator[RankingBatch]:
        try:
            for rows in _whole_queries(frames):
                yield _batch(rows)
        except _UnusableError:
            raise _explained(self._rows, "run") from None


def qrels_of_rows(rows: Rows) -> Qrels:
    """
    Read judgments from a table.

    Args:
        rows: Its rows.

    Returns:
        The judgments.

    Raises:
        DataError: Rows that cannot be used, or documents judged twice, all of them; or nothing is judged.
    """
    frames = [frame.rows for frame in rows.frames() if frame.rows.height]
    if not frames:
        msg = "the judgments cannot be used:"
        raise DataError(msg, [Problem("the table judges nothing", rows.name)])
    whole = pl.concat(frames)
    try:
        batch = _batch(whole)
    except _UnusableError:
        raise _explained(rows, "qrels") from None
    places: dict[bytes, int] = {}
    of_start = [places.setdefault(query, len(places)) for query in batch.queries]
    owners = np.repeat(np.array(of_start, dtype=np.int64), batch.lengths)
    return Qrels.of(list(places), owners, batch.documents, batch.scores, rows.name)


class _UnusableError(Exception):
    """A row cannot be used; all rows have to be looked at to say which, and why."""


def _whole_queries(frames: Iterator[Frame]) -> Iterator[pl.DataFrame]:
    """Cut frames anew, between queries."""
    held: list[pl.DataFrame] = []
    for frame in frames:
        rows = frame.rows
        if not rows.height:
            continue
        last = int(_begins(rows["query"])[-1])
        begins_anew = bool(held) and held[-1]["query"][-1] != rows["query"][0]
        if held and not last and not begins_anew:
            held.append(rows)  # all of it is the query that the frames before ended with
            continue
        if last or held:
            yield pl.concat([*held, rows.head(last)])
        held = [rows.slice(last)]
    if held:
        yield pl.concat(held)


def _begins(queries: pl.Series) -> Ints:
    """Return the first row of each stretch of rows with the same query."""
    if isinstance(queries.dtype, _INTEGERS):
        numbers = queries.to_numpy()
        differ = numbers[1:] != numbers[:-1]
    elif (views := short_views(queries)) is not None:
        differ = views.differ()
    else:
        numbers = queries.rle_id().to_numpy()
        differ = numbers[1:] != numbers[:-1]
    changes = np.flatnonzero(differ)
    begins: Ints = np.zeros(len(changes) + 1, dtype=np.int64)
    np.add(changes, 1, out=begins[1:])
    return begins


def _batch(rows: pl.DataFrame) -> RankingBatch:
    if any(count for (count,) in rows.null_count().iter_columns()):
        raise _UnusableError
    scores = _numbers(rows["value"]).to_numpy()
    starts = _begins(rows["query"])
    queries = [encoded(str(query)) for query in rows["query"].gather(starts).to_list()]
    documents, keys = _documents(rows["document"])
    if not (np.isfinite(scores).all() and documents.length.all() and all(queries)):
        raise _UnusableError
    return RankingBatch(
        queries=queries,
        lengths=np.diff(np.append(starts, rows.height)),
        documents=documents,
        keys=keys,
        scores=scores,
    )


def _numbers(values: pl.Series) -> pl.Series:
    """Return values as floats, null where a text is no number."""
    return values.cast(pl.Float64, strict=False)


def _documents(ids: pl.Series) -> tuple[Slices, Words]:
    """Return ids in one buffer, and their keys; nothing is made for each of them."""
    texts = ids.cast(pl.String)
    views = short_views(texts)
    if views is not None:
        return views.slices(), views.keys()
    length = texts.str.len_bytes().to_numpy().astype(np.int64)
    joined = b"".join((bytes(PADDING), texts.str.join("").item().encode(), bytes(PADDING)))
    slices = Slices(np.frombuffer(joined, dtype=np.uint8), np.cumsum(length) - length + PADDING, length)
    return slices, slices.keys()


def _explained(rows: Rows, kind: Kind) -> DataError:
    """Return what is wrong with a table that could not be read: a problem for each value."""
    value = "grade" if kind == "qrels" else "score"
    problems: list[Problem] = []
    for frame in rows.frames():
        numbers = _numbers(frame.rows["value"])
        values: Floats = numbers.fill_null(float("nan")).to_numpy()
        texts = {name: frame.rows[name].cast(pl.String) for name in ("query", "document")}
        missing = {name: (texts[name].fill_null("") == "").to_numpy() for name in texts}
        wrong = missing["query"] | missing["document"] | ~np.isfinite(values)
        for row in np.flatnonzero(wrong).tolist():
            where = {"path": f"row {frame.first + row}"} if frame.line is None else {"line": frame.line + row}
            found = [
                f"the {name} is {'missing' if texts[name][row] is None else 'empty'}" for name in texts if missing[name][row]
            ]
            if not np.isfinite(values[row]):
                given = frame.rows["value"][row]
                found.append(
                    f"the {value} is missing" if given is None else f"the {value} {given!r} is no finite number"
                )
            problems.append(Problem("; ".join(found), rows.name, **where))
            if len(problems) >= _MOST:
                problems.append(Problem(f"reading stopped after {_MOST:,} problems", rows.name))
                break
        if len(problems) >= _MOST:
            break
    what = "the judgments" if kind == "qrels" else "the run"
    return DataError(f"{what} cannot be used; a row is a query, a document and a {value}:", problems)
