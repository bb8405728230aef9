"""
`evaluate`: from judgments and rankings, however they are given, to results.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack, overload

from rankgauge.engine.run_result import grouped
from rankgauge.engine.runs import CONVENTIONS, RunConventions, run_evaluator
from rankgauge.errors import MetricFailedError, ParameterError
from rankgauge.io.open_sources import QrelsLike, RunLike
from rankgauge.io.query_groups import Groups, QueryGroups
from rankgauge.named_options import check_names, listing
from rankgauge.planning.requests import MetricSpec
from rankgauge.result import Result
from rankgauge.result.health import broken_metrics

__all__ = ["evaluate"]


@overload
def evaluate(
    qrels: QrelsLike,
    run: RunLike,
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    columns: Mapping[str, str] | None = ...,
    groups: Groups | None = ...,
    weights: Path | Mapping[str, float] | None = ...,
    **conventions: Unpack[RunConventions],
) -> Result: ...


@overload
def evaluate(
    qrels: QrelsLike,
    *,
    runs: Mapping[str, RunLike],
    metrics: Sequence[MetricSpec] | MetricSpec,
    columns: Mapping[str, str] | None = ...,
    groups: Groups | None = ...,
    weights: Path | Mapping[str, float] | None = ...,
    **conventions: Unpack[RunConventions],
) -> dict[str, Result]: ...


@listing(RunConventions, CONVENTIONS)
def evaluate(
    qrels: QrelsLike,
    run: RunLike | None = None,
    metrics: Sequence[MetricSpec] | MetricSpec | None = None,
    *,
    runs: Mapping[str, RunLike] | None = None,
    columns: Mapping[str, str] | None = None,
    groups: Groups | None = None,
    weights: Path | Mapping[str, float] | None = None,
    **conventions: Unpack[RunConventions],
) -> Result | dict[str, Result]:
    """
    Evaluate a run, or several, against judgments.

        result = rankgauge.evaluate("qrels.txt", "run.txt", ["ndcg@10", "AP"])
        result["AP"].mean

        results = rankgauge.evaluate("qrels.txt", runs={"bm25": "a.txt", "rrf": "b.txt"}, metrics="ndcg@10")
        results["rrf"]["ndcg@10"].mean

    Args:
        qrels: A path (TREC or BEIR qrels, Parquet, CSV, JSON; compressed or not), ``-`` for standard input, a mapping
            ``{query: {document: grade}}``, a polars, pandas or Arrow table, a Hugging Face dataset, or named tuples as
            ir_measures and ir_datasets have them.

        run: The same: a TREC run, BEIR results, a mapping ``{query: {document: score}}``, or a table.

        metrics: Metrics in any spelling.

        runs: Several runs by name instead of *run*, each given in any of these ways; the judgments are read once.

        columns: The tables' own names for `query`, `document`, `grade`, `score` and `rank`; under `run` or `qrels` what
            each column of a file without a header is, such as ``"query,document,rank"``.

        groups: The groups of queries, by which `Result.by_tag`, reports, comparisons and gates tell them apart: a file,
            or a mapping such as ``{"q1": "short", "q2": ["long", "legal"]}``.

        weights: How much each query counts in means: the weight by query id, or the `Path` of a file with a line for
            each query, its id, a blank and its weight; see `Result.with_weights`. By default all count the same.

        profile: The conventions; trec_eval's by default. Judged queries that the run lacks count as 0 under it.

        policy: Policy options that differ from the profile's, such as ``{"ties": "error"}``.

        rel: The grade from which on a document is relevant, instead of the profile's.

        k: Default cutoff, used when a metric has none.

        catalog: What plugins offer; by default everything that is installed.

    Returns:
        One score for each judged query and metric, in byte order of the query ids; of several runs one result each, by
        name, in the order given.

    Raises:
        ParameterError: Neither or both of *run* and *runs*, or no metrics.

        PlanError: Metrics that cannot be resolved, or need more than ids; before anything is read.

        DataError: Judgments or runs that cannot be used, every problem at once.

        NothingToEvaluateError: No query of a run is judged.

        MetricFailedError: A metric failed for every query of a run; the results are in its `result`.

        ResultError: A query has no weight, or one that is none.
    """
    check_names("evaluate", conventions, _OPTIONS)
    if (run is None) is (runs is None):
        got = "neither" if run is None else "both"
        raise ParameterError(f"evaluate takes one run, or several as runs={{name: run}}; it got {got}")
    if metrics is None:
        raise ParameterError("evaluate needs metrics, such as 'ndcg@10' or ['ndcg@10', 'AP']")
    if runs is not None and not isinstance(runs, Mapping):
        raise ParameterError(f"runs are given by name, such as {{'bm25': 'run.txt'}}, not {runs!r}")
    given = {"run": run} if run is not None else dict(runs or {})
    planned = run_evaluator(metrics, **conventions)
    known = None if groups is None else QueryGroups.of(groups)
    results = planned.evaluate(qrels, given, columns=columns)
    results = {name: grouped(result, known) for name, result in results.items()}
    if weights is not None:
        from rankgauge.engine.comparing import with_weights  # comparing needs more than most evaluations

        results = with_weights(results, weights)
    returned = results["run"] if runs is None else results
    if broken := broken_metrics(results):
        raise MetricFailedError(broken, returned)
    return returned


_OPTIONS = tuple(inspect.signature(evaluate).parameters)
