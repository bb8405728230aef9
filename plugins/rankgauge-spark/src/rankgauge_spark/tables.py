"""
Tables: judgments and runs as DataFrames of one shape, with all rows of a query in one partition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # everybody's name for it
from pyspark.sql import types as T  # noqa: N812  # likewise

from rankgauge.errors import DataError, Problem
from rankgauge.files import find_columns
from rankgauge_spark.workers import refuse_unusable

__all__ = ["Judgments", "in_shards", "read_judgments", "shaped"]

_IDS = (T.StringType, T.IntegralType)


@dataclass(frozen=True)
class Judgments:
    """
    Judgments, ready to meet runs.

    Attributes:
        rows: The rows to union with a run: judgments; or, where those travel, the ids of judged queries.

        small: The judgments themselves, which travel to every worker; None if there are too many.
    """

    rows: DataFrame
    small: pl.DataFrame | None


def shaped(table: DataFrame, kind: Literal["qrels", "run"], columns: Mapping[str, str] | None) -> DataFrame:
    """
    Return the columns `query`, `document` and `value`, which ranks are where they are in place of scores, negated.

    A `DataError` says which columns are missing or of a wrong type.
    """
    names = find_columns(table.columns, kind, columns)
    types = {field.name: field.dataType for field in table.schema.fields}
    role = next(role for role in ("grade", "score", "rank") if role in names)
    number, what = names[role], f"{role}s"
    numbers = (T.NumericType, T.BooleanType) if kind == "qrels" else (T.NumericType,)
    problems = [
        Problem(f"ids in column {name!r} are of type {types[name].simpleString()}; make them strings or integers")
        for name in (names["query"], names["document"])
        if not isinstance(types[name], _IDS)
    ]
    if not isinstance(types[number], numbers):
        found = types[number].simpleString()
        problems.append(Problem(f"{what} in column {number!r} are of type {found}; make them numbers"))
    if problems:
        raise DataError(f"{'the judgments' if kind == 'qrels' else 'the run'} cannot be used:", problems)
    return table.select(
        _column(names["query"]).cast("string").alias("query"),
        _column(names["document"]).cast("string").alias("document"),
        (-_column(number) if role == "rank" else _column(number)).cast("double").alias("value"),
    )


def read_judgments(table: DataFrame, columns: Mapping[str, str] | None, most: int) -> Judgments:
    """Prepare judgments; *most* of them travel to every worker, more are joined with the run by query."""
    rows = shaped(table, "qrels", columns)
    small = pl.DataFrame(rows.limit(most + 1).toArrow()) if most else None
    if small is not None and not small.height:
        raise DataError("the judgments cannot be used:", [Problem("there are no judgments")])
    if small is None or small.height > most:
        return Judgments(_marked(rows, is_run=False), None)
    refuse_unusable(small.with_columns(is_run=pl.lit(value=False)))
    queries = table.sparkSession.createDataFrame(small.select("query").unique().to_arrow())
    named = queries.select(
        F.col("query").cast("string").alias("query"),
        F.lit(None).cast("string").alias("document"),
        F.lit(None).cast("double").alias("value"),
    )
    return Judgments(_marked(named, is_run=False), small)


def in_shards(judgments: Judgments, run: DataFrame, partitions: int | None) -> DataFrame:
    """Return the rows of both, each query whole in one partition and its rows one after the other."""
    rows = judgments.rows.unionByName(_marked(run, is_run=True))
    spread = rows.repartition("query") if partitions is None else rows.repartition(partitions, "query")
    return spread.sortWithinPartitions("query")


def _marked(rows: DataFrame, *, is_run: bool) -> DataFrame:
    return rows.select(F.lit(is_run).alias("is_run"), "query", "document", "value")


def _column(name: str) -> Column:
    """Return a column whose name may have dots."""
    return F.col(f"`{name.replace('`', '``')}`")
