"""
Workers: what runs inside Spark's tasks, on Arrow batches of one partition.

Rows have `is_run`, `query`, `document` and `value`. They come sorted by query, those of the run and of the judgments
together; where judgments travel, a row without a document stands for a judged query instead. A query may span batches,
so the last one of a piece is carried over; a piece of whole queries is a shard. What a shard comes to is returned as
one value, also if it is an error of the data or of the plan.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankgauge.errors import DataError, Problem, RankgaugeError, RepeatedJudgmentsError
from rankgauge.scale import RunShard, ShardedRun

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PAYLOAD", "RowsOfQueries", "Shards", "payload", "received", "refuse_unusable", "whole_queries"]

PAYLOAD = "payload binary"
"""The schema of what workers send to the driver."""

_PIECE = 1 << 18
"""How many rows make a shard, as far as queries are not cut."""

_MOST_PROBLEMS = 1000


@dataclass(frozen=True)
class Shards:
    """
    Evaluates the partitions of a run.

    Attributes:
        sharded: The evaluation, with its lock.

        judgments: The judgments, where they travel; None if they are among the rows.

        keep: Whether the score of each query is sent, or what a partition comes to.
    """

    sharded: ShardedRun
    judgments: pl.DataFrame | None
    keep: bool = True

    def of(self, batches: Iterable[pa.RecordBatch]) -> Iterator[RunShard]:
        """Yield what each piece of a partition becomes."""
        for rows in whole_queries(map(_frame, batches)):
            refuse_unusable(rows if self.judgments is None else rows.filter("is_run"))
            run = rows.filter("is_run").select("query", "document", score="value")
            named = rows.filter(~pl.col("is_run")).select("query", "document", grade="value")
            if self.judgments is not None:
                named = self.judgments.join(named.select("query"), on="query", how="semi", maintain_order="left")
                named = named.rename({"value": "grade"})
            yield self._shard(named if named.height else None, run)

    def _added_up(self, batches: Iterable[pa.RecordBatch]) -> RunShard:
        total = self.sharded.added_up([])
        for shard in self.of(batches):
            total = self.sharded.added_up([total, shard])
        return total

    def _shard(self, judgments: pl.DataFrame | None, run: pl.DataFrame) -> RunShard:
        try:
            return self.sharded.shard(judgments, run)
        except DataError:
            # Messages tell ranks: in the order of scores they are the same wherever the rows were.
            ordered = run.sort(["query", "score", "document"], descending=[False, True, True])
            return self.sharded.shard(judgments, ordered)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a payload for each shard; after an error of the data or the plan nothing more."""
        try:
            if self.keep:
                yield from map(payload, self.of(batches))
            else:
                yield payload(self._added_up(batches))
        except RankgaugeError as error:
            yield payload(DataError(*_told(error)) if isinstance(error, RepeatedJudgmentsError) else error)


@dataclass(frozen=True)
class RowsOfQueries:
    """
    Evaluates the partitions of a run to rows: a query, its scores and their statuses.

    Attributes:
        shards: The evaluation.
    """

    shards: Shards

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a batch for each shard."""
        for shard in self.shards.of(batches):
            if shard.scores is not None:
                scores = self.shards.sharded.scores(shard).rename({"sample_id": "query"}).drop("tags")
                yield from _plain(scores)


def whole_queries(frames: Iterable[pl.DataFrame], piece: int = _PIECE) -> Iterator[pl.DataFrame]:
    """Yield pieces of whole queries from frames that are sorted by query, of about *piece* rows where queries allow."""
    held: list[pl.DataFrame] = []
    count, enough = 0, piece
    for frame in frames:
        held.append(frame)
        count += frame.height
        if count < enough:
            continue
        rows = pl.concat(held)
        last = _last_query(rows["query"])
        if last:
            yield rows.head(last)
        held, count = [rows.slice(last)], rows.height - last
        enough = max(piece, 2 * count)  # one query with very many rows is not searched again for each frame
    if count:
        yield pl.concat(held)


def refuse_unusable(rows: pl.DataFrame) -> None:
    """Raise `DataError` for rows without an id or a number; a row has no place, so its ids are shown."""
    unusable = rows.filter(
        pl.col("query").is_null()
        | pl.col("document").is_null()
        | (pl.col("query") == "")
        | (pl.col("document") == "")
        | ~pl.col("value").is_finite().fill_null(value=False)
    )
    if unusable.height:
        told = unusable.sort("query", "document", "value").head(_MOST_PROBLEMS)
        msg = "rows cannot be used; each needs a query, a document, and a score or a grade:"
        raise DataError(msg, [Problem(_wrong(row)) for row in told.iter_rows(named=True)])


def payload(value: object) -> pa.RecordBatch:
    """Return what a worker sends: a shard, or an error."""
    import pyarrow as pa  # noqa: PLC0415  # there where Spark is

    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return pa.record_batch([pa.array([data], pa.binary())], names=["payload"])


def received(payload: bytes) -> Any:  # noqa: ANN401  # a shard or an error
    """Return what a worker sent."""
    return pickle.loads(payload)  # noqa: S301  # a task of this job, which runs code of the driver anyway


def _last_query(queries: pl.Series) -> int:
    """Return the first row of the last query."""
    begins = queries.ne_missing(queries.shift()).arg_true()
    return int(begins[-1]) if len(begins) and begins[-1] else 0


def _frame(batch: pa.RecordBatch) -> pl.DataFrame:
    found = pl.from_arrow(batch)
    assert isinstance(found, pl.DataFrame)  # noqa: S101  # what a batch of several columns is
    return found


def _plain(frame: pl.DataFrame) -> Iterator[pa.RecordBatch]:
    """Yield a frame in Arrow's plain layout, which Spark reads; polars' own has texts as views."""
    yield from frame.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()


def _told(error: RepeatedJudgmentsError) -> tuple[str, tuple[Problem, ...]]:
    """Return title and problems; the judgments that the error also has need not travel."""
    return str(error).splitlines()[0], error.problems


def _wrong(row: dict[str, Any]) -> str:
    kind, value = ("result", "score") if row["is_run"] else ("judgment", "grade")
    lacks = [f"no {name}" for name in ("query", "document") if not row[name]]
    number = row["value"]
    if number is None:
        lacks.append(f"no {value}")
    elif number != number or number in {float("inf"), float("-inf")}:  # noqa: PLR0124  # NaN
        lacks.append(f"the {value} {number}, which is not a finite number")
    has = " and ".join(f"{name} {row[name]!r}" for name in ("query", "document") if row[name])
    return f"a {kind}{f' of {has}' if has else ''} has {', '.join(lacks)}"
