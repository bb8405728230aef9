"""
Runs: evaluates DataFrames of results against a DataFrame of judgments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import polars as pl
from pyspark.sql import DataFrame

import rankgauge
from rankgauge import Catalog, Comparison, Policy, Profile, Result
from rankgauge.scale import RunShard, ShardedRun, Totals
from rankgauge.typing import MetricSpec
from rankgauge_spark.tables import Judgments, in_shards, read_judgments, shaped
from rankgauge_spark.transport import collected
from rankgauge_spark.workers import PAYLOAD, RowsOfQueries, Shards

__all__ = ["compare", "evaluate", "per_query"]

BROADCAST = 500_000
"""How many judgments travel to every worker, at the most; some 20 MB."""


@overload
def evaluate(
    qrels_df: DataFrame,
    run_df: DataFrame,
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    profile: str | Policy | Profile = ...,
    policy: Mapping[str, Any] | None = ...,
    rel: float | None = ...,
    k: int | None = ...,
    columns: Mapping[str, str] | None = ...,
    catalog: Catalog | None = ...,
    partitions: int | None = ...,
    broadcast: int = ...,
    per_query: Literal[True] = ...,
) -> Result: ...
@overload
def evaluate(
    qrels_df: DataFrame,
    run_df: DataFrame,
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    profile: str | Policy | Profile = ...,
    policy: Mapping[str, Any] | None = ...,
    rel: float | None = ...,
    k: int | None = ...,
    columns: Mapping[str, str] | None = ...,
    catalog: Catalog | None = ...,
    partitions: int | None = ...,
    broadcast: int = ...,
    per_query: Literal[False],
) -> Totals: ...
def evaluate(
    qrels_df: DataFrame,
    run_df: DataFrame,
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    profile: str | Policy | Profile = "trec10",
    policy: Mapping[str, Any] | None = None,
    rel: float | None = None,
    k: int | None = None,
    columns: Mapping[str, str] | None = None,
    catalog: Catalog | None = None,
    partitions: int | None = None,
    broadcast: int = BROADCAST,
    per_query: bool = True,
) -> Result | Totals:
    """
    Evaluate a run against judgments.

    Rows may be in any order and partition. The result is that of `rankgauge.evaluate` on one machine, to the last bit.

    Args:
        qrels_df: Judgments: a query, a document and a grade a row.

        run_df: Results: a query, a document and a score a row.

        metrics: Metrics in any spelling.

        profile: The conventions; trec_eval's by default. Judged queries that the run lacks count as 0 under it.

        policy: Policy options that differ from the profile's. Those that depend on the order of rows are refused:
            ``order="given"``, ``ties="given"``, ``duplicates="first"`` and ``"last"``.

        rel: The grade from which on a document is relevant, instead of the profile's.

        k: Default cutoff, used when a metric has none.

        columns: The tables' own names for `query`, `document`, `grade` and `score`.

        catalog: What plugins offer; by default everything that is installed on the driver. Workers look for the same
            distributions, and refuse if theirs differ.

        partitions: Into how many partitions the rows are put, by query; by default Spark's own number.

        broadcast: Up to how many judgments travel to every worker. More are joined with the run by query.

        per_query: Whether the driver gets the score of each query, nine bytes a query and metric, and the ids. If not,
            each partition sends exact sums, some hundred bytes a metric.

    Returns:
        One score for each judged query and metric, in order of the query ids. Without *per_query*,
        `rankgauge.scale.Totals`: the same means to the last bit, counts, standard errors and extremes; no quantiles,
        gates or comparisons.

    Raises:
        PlanError: Metrics that cannot be resolved, need more than ids, or would mean something else on a worker.

        PolicyError: An option that cannot be used, or depends on the order of rows.

        DataError: Rows that cannot be used, with every problem of the first shard of each partition that has any.

        ParameterError: Without *per_query*, a metric whose aggregate needs every score.

        NothingToEvaluateError: No query of the run is judged.
    """
    sharded = _planned(metrics, profile, policy, rel, k, catalog)
    judgments = read_judgments(qrels_df, columns, broadcast)
    run = shaped(run_df, "run", columns)
    if per_query:
        return sharded.merge(_shards(sharded, judgments, run, partitions))
    return sharded.merge_totals(_shards(sharded, judgments, run, partitions, keep=False))


def per_query(
    qrels_df: DataFrame,
    run_df: DataFrame,
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    profile: str | Policy | Profile = "trec10",
    policy: Mapping[str, Any] | None = None,
    rel: float | None = None,
    k: int | None = None,
    columns: Mapping[str, str] | None = None,
    catalog: Catalog | None = None,
    partitions: int | None = None,
    broadcast: int = BROADCAST,
) -> DataFrame:
    """
    Return the scores of each query as a DataFrame, which stays on the cluster.

    What is wrong with the rows is raised by Spark, when the DataFrame is used.

    Args:
        qrels_df: As in `evaluate`.

        run_df: As in `evaluate`.

        metrics: As in `evaluate`.

        profile: As in `evaluate`.

        policy: As in `evaluate`.

        rel: As in `evaluate`.

        k: As in `evaluate`.

        columns: As in `evaluate`.

        catalog: As in `evaluate`.

        partitions: As in `evaluate`.

        broadcast: As in `evaluate`.

    Returns:
        A row for each judged query: `query`, then for each metric its value, such as ``ndcg_at_10`` (null if it does
        not count), and its status, such as ``ndcg_at_10_status``: `scored`, `undefined`, `missing` or `failed`.

    Raises:
        PlanError: As `evaluate`.

        PolicyError: As `evaluate`.

        DataError: Columns or judgments that cannot be used.
    """
    sharded = _planned(metrics, profile, policy, rel, k, catalog)
    judgments = read_judgments(qrels_df, columns, broadcast)
    rows = in_shards(judgments, shaped(run_df, "run", columns), partitions)
    return rows.mapInArrow(RowsOfQueries(Shards(sharded, judgments.small)).__call__, _schema(sharded))


def compare(
    qrels_df: DataFrame,
    run_dfs: Mapping[str, DataFrame],
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    profile: str | Policy | Profile = "trec10",
    policy: Mapping[str, Any] | None = None,
    rel: float | None = None,
    k: int | None = None,
    columns: Mapping[str, str] | None = None,
    catalog: Catalog | None = None,
    partitions: int | None = None,
    broadcast: int = BROADCAST,
    **options: Any,  # noqa: ANN401  # those of `rankgauge.compare`, which checks them
) -> Comparison:
    """
    Evaluate several runs against the same judgments, and compare them query by query.

    Args:
        qrels_df: As in `evaluate`.

        run_dfs: The runs by name; the first is the baseline, unless `baseline` says another.

        metrics: As in `evaluate`.

        profile: As in `evaluate`.

        policy: As in `evaluate`.

        rel: As in `evaluate`.

        k: As in `evaluate`.

        columns: As in `evaluate`.

        catalog: As in `evaluate`.

        partitions: As in `evaluate`.

        broadcast: As in `evaluate`.

        **options: Further arguments of `rankgauge.compare`, such as ``baseline="bm25"`` or ``test="t"``; not
            `condensed` and `bounds`, which have to read a run again.

    Returns:
        As `rankgauge.compare`.

    Raises:
        RankgaugeError: As `evaluate` and `rankgauge.compare`.
    """
    sharded = _planned(metrics, profile, policy, rel, k, catalog)
    judgments = read_judgments(qrels_df, columns, broadcast)
    runs = {name: shaped(run_df, "run", columns) for name, run_df in run_dfs.items()}
    results = {name: sharded.merge(_shards(sharded, judgments, run, partitions)) for name, run in runs.items()}
    return rankgauge.compare(results, **options)


def _planned(
    metrics: Sequence[MetricSpec] | MetricSpec,
    profile: str | Policy | Profile,
    policy: Mapping[str, Any] | None,
    rel: float | None,
    k: int | None,
    catalog: Catalog | None,
) -> ShardedRun:
    return ShardedRun.plan(metrics, profile=profile, policy=policy, rel=rel, k=k, catalog=catalog, row_order=False)


def _shards(
    sharded: ShardedRun, judgments: Judgments, run: DataFrame, partitions: int | None, *, keep: bool = True
) -> list[RunShard]:
    rows = in_shards(judgments, run, partitions)
    return collected(rows.mapInArrow(Shards(sharded, judgments.small, keep).__call__, PAYLOAD))


def _schema(sharded: ShardedRun) -> str:
    """Return the columns of `per_query`, as Spark's schemas are written."""
    kinds = {pl.Float64: "double", pl.String: "string"}
    schema = sharded.scores(RunShard()).drop("tags").rename({"sample_id": "query"}).schema
    return ", ".join(f"`{name}` {kinds[type(kind)]}" for name, kind in schema.items())
