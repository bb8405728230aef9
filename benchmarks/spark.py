"""
rankgauge-spark against MLlib's RankingMetrics on the same DataFrames, and how it grows.

Run it in the environment that ``make test-spark`` makes: ``.venv/spark/bin/python benchmarks/spark.py``. It starts a
local Spark with two workers. What it prints, in this order:

- the memory of a worker for one query with very many results (``--skew``);
- the answers of both for repeated documents, grades and queries without results, beside what is right;
- the time of both for the same three measures of the same rows, in turns;
- our time at each number of rows (``--rows 1000000 10000000``), and what the last one means for 10**9 on paper.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

import rankgauge_spark
from rankgauge.scale import ShardedRun
from rankgauge_spark.workers import Shards

DEPTH = 100
JUDGED = 10
METRICS = ["P@10", "ndcg@10", "AP"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000], help="rows of the runs")
    parser.add_argument("--against", type=int, default=100_000, help="rows of the run that MLlib gets, too")
    parser.add_argument("--runs", type=int, default=3, help="how often both sides are timed; the median is told")
    parser.add_argument("--skew", type=int, default=1_000_000, help="results of one query")
    options = parser.parse_args()
    skew(options.skew)  # first: what this process ever held would count as the memory of those that it starts
    session = started()
    with tempfile.TemporaryDirectory() as folder:
        answers(session)
        against(session, Path(folder), options.against, options.runs)
        growth(session, Path(folder), options.rows, options.runs)
    session.stop()


def started():
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.sql.shuffle.partitions", "8").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def answers(session) -> None:
    """Print what both say of three small runs."""
    discount = 1 / math.log2(3)
    cases = [
        (
            "a document retrieved three times, recall@3",
            [("q", "a", 1)],
            [("q", "a", 3.0), ("q", "a", 2.0), ("q", "a", 1.0)],
            ("recall@3", lambda mllib: mllib.recallAt(3), 1.0),
        ),
        (
            "the same, nDCG@3",
            [("q", "a", 1)],
            [("q", "a", 3.0), ("q", "a", 2.0), ("q", "a", 1.0)],
            ("ndcg@3", lambda mllib: mllib.ndcgAt(3), 1.0),
        ),
        (
            "grades 1 before 3, nDCG@2",
            [("q", "a", 3), ("q", "b", 1)],
            [("q", "b", 2.0), ("q", "a", 1.0)],
            ("ndcg@2", lambda mllib: mllib.ndcgAt(2), (1 + 3 * discount) / (3 + discount)),
        ),
        (
            "one of two queries without results, P@1",
            [("q", "a", 1), ("p", "a", 1)],
            [("q", "a", 1.0)],
            ("P@1", lambda mllib: mllib.precisionAt(1), 0.5),
        ),
    ]
    print(f"{'answers':44}{'right':>8}{'rankgauge':>11}{'MLlib':>8}")
    for told, judged, found, (metric, theirs, right) in cases:
        qrels = session.createDataFrame(judged, "query string, document string, grade int")
        run = session.createDataFrame(found, "query string, document string, score double")
        ours = rankgauge_spark.evaluate(qrels, run, metric, policy={"duplicates": "best"}, partitions=1)
        mean = next(iter(ours.metrics.values())).mean
        mllib = theirs(RankingMetrics(pairs(qrels, run)))
        print(f"{told:44}{right:8.4f}{mean:11.4f}{mllib:8.4f}", flush=True)


def pairs(qrels, run):
    """Return what RankingMetrics takes: for each query the documents by score, and the relevant ones."""
    relevant = qrels.filter("grade > 0").groupBy("query").agg(F.collect_list("document").alias("relevant"))
    ranked = run.groupBy("query").agg(
        F.transform(
            F.sort_array(F.collect_list(F.struct("score", "document")), asc=False), lambda row: row.document
        ).alias("ranked")
    )
    return ranked.join(relevant, "query").rdd.map(lambda row: (row.ranked, row.relevant))


def written(folder: Path, rows: int) -> tuple[str, str]:
    """Write a run with a hundred results a query, in random order, and its binary judgments; return both paths."""
    chance = np.random.default_rng(7)
    queries = rows // DEPTH
    query = np.repeat(np.arange(queries), DEPTH)
    document = chance.integers(0, 1_000, (queries, 1)) * 10_000 + np.argsort(chance.random((queries, DEPTH)), axis=1)
    run = pl.DataFrame({"query": query, "document": document.ravel(), "score": chance.random(query.size)})
    run = run.with_columns(pl.format("q{}", "query").alias("query"), pl.format("doc{}", "document").alias("document"))
    picked = document[:, :: DEPTH // JUDGED].ravel()
    qrels = pl.DataFrame({"query": np.repeat(np.arange(queries), JUDGED), "document": picked})
    qrels = qrels.with_columns(
        pl.format("q{}", "query").alias("query"), pl.format("doc{}", "document").alias("document"), grade=pl.lit(1)
    )
    paths = str(folder / f"qrels{rows}.parquet"), str(folder / f"run{rows}.parquet")
    qrels.write_parquet(paths[0])
    run.sample(fraction=1.0, shuffle=True, seed=7).write_parquet(paths[1], row_group_size=100_000)
    return paths


def against(session, folder: Path, rows: int, runs: int) -> None:
    """Time both sides in turns; the first turn warms up."""
    qrels, run = (session.read.parquet(path) for path in written(folder, rows))

    def ours() -> list[float]:
        result = rankgauge_spark.evaluate(qrels, run, METRICS)
        return [result[name].mean for name in METRICS]

    def theirs() -> list[float]:
        rankings = pairs(qrels, run).cache()
        mllib = RankingMetrics(rankings)
        found = [mllib.precisionAt(10), mllib.ndcgAt(10), mllib.meanAveragePrecision]
        rankings.unpersist()
        return found

    seconds: dict[str, list[float]] = {"rankgauge": [], "MLlib": []}
    means = {}
    for turn in range(runs + 1):
        for name, side in (("rankgauge", ours), ("MLlib", theirs)):
            begun = time.perf_counter()
            means[name] = side()
            if turn:
                seconds[name].append(time.perf_counter() - begun)
    apart = max(abs(own - its) for own, its in zip(*means.values(), strict=True))
    own, its = (statistics.median(times) for times in seconds.values())
    print(f"\n{', '.join(METRICS)} of {rows:,} rows without repeats, grades 0 and 1; means differ by {apart:.1e}")
    print(f"rankgauge {own:.1f} s, MLlib {its:.1f} s: {its / own:.2f} times its speed", flush=True)


def growth(session, folder: Path, sizes: list[int], runs: int) -> None:
    """Time evaluations of runs that grow, then say what a thousand million rows would take."""
    print(f"\n{'rows':>12}{'seconds':>10}{'without scores':>16}{'rows a second':>15}")
    for rows in sizes:
        qrels, run = (session.read.parquet(path) for path in written(folder, rows))
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(runs):
            for keep, found in times.items():
                begun = time.perf_counter()
                rankgauge_spark.evaluate(qrels, run, METRICS, per_query=keep)
                found.append(time.perf_counter() - begun)
        whole, summed = (statistics.median(found) for found in times.values())
        print(f"{rows:12,}{whole:10.1f}{summed:16.1f}{rows / whole:15,.0f}", flush=True)
    a_core = rows / whole / 2
    queries = 10**9 // DEPTH
    print(
        f"on paper, from the last line: 10**9 rows take {10**9 / a_core / 3600:.1f} hours of one core, "
        f"{10**9 / a_core / 64 / 60:.1f} minutes of 64; the driver gets {queries * 9 * len(METRICS) / 1e6:,.0f} MB for "
        f"{queries:,} queries and {len(METRICS)} metrics, beside their ids"
    )


def skew(rows: int) -> None:
    """Measure a process that does what a worker does with one long query."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        small, large = pool.apply(_peak, (1,)), pool.apply(_peak, (rows,))
    print(f"a worker with a query of {rows:,} results takes {large:,.0f} MB; with a query of 1, {small:,.0f} MB\n")


def _peak(rows: int) -> float:
    judgments = pl.DataFrame({"query": ["q"], "document": ["doc0"], "value": [1.0]})
    shards = Shards(ShardedRun.plan(METRICS, row_order=False), judgments)
    fields = {"is_run": pa.bool_(), "query": pa.string(), "document": pa.string(), "value": pa.float64()}

    def batch(*columns):
        arrays = [pa.array(values, kind) for values, kind in zip(columns, fields.values(), strict=True)]
        return pa.record_batch(arrays, names=list(fields))

    def batches():
        yield batch([False], ["q"], [None], [None])
        for start in range(0, rows, 10_000):
            places = range(start, min(start + 10_000, rows))
            count = len(places)
            yield batch([True] * count, ["q"] * count, [f"doc{n}" for n in places], [n % 977 / 7 for n in places])

    (shard,) = shards.of(batches())
    assert shard.counts.queries == 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
