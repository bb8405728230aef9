"""
Tables: rankings and judgments from columns of ids and numbers, without an object for each row.

A table is read in frames of consecutive rows with the columns `query`, `document` and `value`, `intent` where
judgments are for intents, and `rank` if a run states them. The last query of a frame may go on in the next one, so
it is carried over.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from rankgauge.columns import PADDING, Floats, Ints, Qrels, RankingBatch, Slices, Words, encoded
from rankgauge.errors import DataError, Problem, RepeatedJudgmentsError
from rankgauge.io.field_names import Kind
from rankgauge.io.problems import SUBJECTS, first_problems, no_judgments
from rankgauge.io.rating_files import HINT
from rankgauge.io.short_ids import number_views, short_views
from rankgauge.io.stated_ranks import StatedRanks, are_ranks, scores_of_ranks
from rankgauge.io.table_rows import Frame, Ranged, Rows, query_begins

__all__ = ["TableRun", "qrels_of_rows"]

_COLUMNS = ("query", "document", "value")
_ROWS = 1 << 16  # minimum number of rows in a batch, except the last


class TableRun:
    """A run in a table, which has no tag or metadata; without scores its ranks order it, from the lowest on."""

    def __init__(self, rows: Rows, *, kept: object = None) -> None:
        """Take the rows, and the temporary file that they are in, if there is one, to keep it alive."""
        self._kept = kept
        self.name = rows.name
        self.tag = ""
        self.metadata: Mapping[str, Any] = {}
        self._rows = rows
        self._ranks = StatedRanks(rows.name)
        self._states_ranks = False

    @property
    def notes(self) -> Sequence[str]:
        """Return where ranks contradict scores, as far as it was read."""
        return self._ranks.notes

    def with_ranks(self) -> TableRun:
        """Return the same run with the ranks beside its scores in its batches, which preflight checks."""
        other = copy.copy(self)
        other._states_ranks = True  # noqa: SLF001  # the copy is ours
        return other

    def parts(self, count: int) -> list[Iterator[RankingBatch]]:
        """Return at most *count* iterators, one for each thread, that together yield every row once."""
        return [self._batches(part) for part in self._rows.parts(count)]

    def grouped(self) -> Iterator[RankingBatch]:
        """Yield every query once, even if its rows are scattered; this holds the whole table in memory."""
        frames = list(self._rows.frames())
        if frames:
            whole = pl.concat([frame.rows for frame in frames])
            frames.clear()
            whole = whole.sort("query", maintain_order=True)
            yield from self._batches(Ranged.of(whole).frames())

    def _batches(self, frames: Iterator[Frame]) -> Iterator[RankingBatch]:
        try:
            for queries in _whole_queries(frames):
                batch = _batch(*queries)
                self._ranks.look(batch)
                yield batch if self._states_ranks or batch.stated is None else replace(batch, stated=None)
        except _UnusableError:
            raise _explained(self._rows, "run") from None


def qrels_of_rows(rows: Rows, *, intents: bool = False) -> Qrels:
    """Read judgments from a table; with intents if they are asked for, and it has a column for them."""
    frames = [frame.rows for frame in rows.frames() if frame.rows.height]
    if not frames:
        raise no_judgments(rows.name)
    whole = pl.concat(frames)
    try:
        batch = _batch(whole.select(_COLUMNS), query_begins(whole["query"]))
    except _UnusableError:
        raise _explained(rows, "qrels") from None
    if intents and (by_intent := _by_intent(whole, batch, rows)) is not None:
        return by_intent
    try:
        return Qrels.of_stretches(batch.names, batch.lengths, batch.documents, batch.scores, rows.name)
    except RepeatedJudgmentsError:
        if (by_intent := _by_intent(whole, batch, rows)) is None:
            raise
        return by_intent.without_intents()


def _by_intent(whole: pl.DataFrame, batch: RankingBatch, rows: Rows) -> Qrels | None:
    """Return judgments for each intent; None if there are none, or a document is judged twice for one."""
    if "intent" not in whole.columns:
        return None
    if (whole["intent"].fill_null("") == "").any():
        raise _explained(rows, "qrels", ("query", "document", "intent"))
    queries = batch.queries
    by_row = (queries[owner] for owner in batch.owners().tolist())
    intents, grades = whole["intent"].to_list(), batch.scores.tolist()
    return Qrels.of_listed_intents(zip(by_row, batch.documents.texts(), intents, grades, strict=True), rows.name)


class _UnusableError(Exception):
    """A row cannot be used; reading all rows again tells which ones, and why."""


def _whole_queries(frames: Iterator[Frame]) -> Iterator[tuple[pl.DataFrame, Ints]]:
    """Cut frames between queries; yield the rows of some whole queries, and the first row of each query."""
    held: list[pl.DataFrame] = []
    for frame in frames:
        rows = frame.rows
        if not rows.height:
            continue
        begins = query_begins(rows["query"])
        if held:
            same = held[-1]["query"][-1] == rows["query"][0]
            if same and len(begins) == 1:
                held.append(rows)
                continue
            rest = int(begins[1]) if same else 0
            yield _one_query([*held, rows.head(rest)] if same else held)
            rows, begins = rows.slice(rest), begins[same:] - rest
        last = len(begins) - 1
        at = 0
        while at < last:
            until = min(max(int(np.searchsorted(begins, begins[at] + _ROWS)), at + 1), last)
            first = int(begins[at])
            yield rows.slice(first, int(begins[until]) - first), begins[at:until] - first
            at = until
        held = [rows.slice(int(begins[last]))]
    if held:
        yield _one_query(held)


def _one_query(rows: list[pl.DataFrame]) -> tuple[pl.DataFrame, Ints]:
    return pl.concat(rows) if len(rows) > 1 else rows[0], np.zeros(1, dtype=np.int64)


def _batch(rows: pl.DataFrame, starts: Ints) -> RankingBatch:
    spare = "rank" if "value" in rows.columns else ""  # beside scores a rank may be missing
    if any(column.null_count() for column in rows.iter_columns() if column.name != spare):
        raise _UnusableError
    scores, stated = _scores(rows)
    column = rows["query"]
    queries = [encoded(str(column[row])) for row in starts.tolist()]
    documents, keys = _documents(rows["document"])
    if not (np.isfinite(scores).all() and documents.length.all() and all(queries)):
        raise _UnusableError
    return RankingBatch(Slices.of(queries), np.diff(np.append(starts, rows.height)), documents, keys, scores, stated)


def _scores(rows: pl.DataFrame) -> tuple[Floats, Floats | None]:
    """Return scores or grades with the ranks stated beside them; where there are ranks alone, those as scores."""
    stated = _numbers(rows["rank"]).to_numpy() if "rank" in rows.columns else None
    if stated is None or "value" in rows.columns:
        return _numbers(rows["value"]).to_numpy(), stated
    if not are_ranks(stated):
        raise _UnusableError
    return scores_of_ranks(stated), None


def _numbers(values: pl.Series) -> pl.Series:
    """Return values as floats, null if a text is not a number."""
    return values if values.dtype == pl.Float64 else values.cast(pl.Float64, strict=False)


def _documents(ids: pl.Series) -> tuple[Slices, Words]:
    """Return ids in one buffer, and their keys; no object is made for each of them."""
    is_text = ids.dtype == pl.String
    if not is_text and (digits := number_views(ids)) is not None:
        return digits.slices(), digits.keys()
    texts = ids if is_text else ids.cast(pl.String)
    if (views := short_views(texts)) is not None:
        return views.slices(), views.keys()
    length = texts.str.len_bytes().to_numpy().astype(np.int64)
    joined = b"".join((bytes(PADDING), texts.str.join("").item().encode(), bytes(PADDING)))
    slices = Slices(np.frombuffer(joined, dtype=np.uint8), np.cumsum(length) - length + PADDING, length)
    return slices, slices.keys()


def _explained(rows: Rows, kind: Kind, ids: Sequence[str] = ("query", "document")) -> DataError:
    """Return what is wrong with a table that could not be read: a problem for each row."""
    has_ranks = any("value" not in frame.rows.columns for frame in islice(rows.frames(), 1))
    number = "grade" if kind == "qrels" else "rank" if has_ranks else "score"
    title = f"{SUBJECTS[kind]} cannot be used; a row is a query, a document and a {number}:"
    return DataError(title, first_problems(_wrong_rows(rows, number, ids), rows.name))


def _wrong_rows(rows: Rows, number: str, ids: Sequence[str]) -> Iterator[Problem]:
    wanted = "a whole number from 0 on" if number == "rank" else "a finite number"
    wanted += f"; {HINT}" if number == "grade" else ""
    for frame in rows.frames():
        given = frame.rows["rank" if number == "rank" else "value"]
        values: Floats = _numbers(given).fill_null(float("nan")).to_numpy()
        is_wrong = ~np.isfinite(values)
        if number == "rank":
            is_wrong |= (values < 0) | (np.floor(values) != values)
        texts = {name: frame.rows[name].cast(pl.String) for name in ids}
        is_lacking = [(column.fill_null("") == "").to_numpy() for column in texts.values()]
        for row in np.flatnonzero(np.logical_or.reduce([*is_lacking, is_wrong])).tolist():
            cells = {name: column[row] for name, column in texts.items()}
            flaws = [
                f"the {name} is {'missing' if cell is None else 'empty'}" for name, cell in cells.items() if not cell
            ]
            if is_wrong[row]:
                flaw = "is missing" if given[row] is None else f"{given[row]!r} is not {wanted}"
                flaws.append(f"the {number} {flaw}")
            where = {"path": f"row {frame.first + row}"} if frame.line is None else {"line": frame.line + row}
            yield Problem("; ".join(flaws), rows.name, **where)
