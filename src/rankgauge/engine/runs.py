"""
Evaluating runs: from judgments and rankings, however they are given, to results.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from rankgauge.catalog import Catalog
from rankgauge.columns import Qrels, RankingBatch, RunSource
from rankgauge.engine.manifest import plan_manifest
from rankgauge.io.mappings import MappingRun
from rankgauge.io.sources import open_qrels, open_run
from rankgauge.judging import BatchJudge, JudgedRun, RunCollector, ScatteredError, judge_mapping
from rankgauge.judging.parts import thread_count, work_on_parts
from rankgauge.logs import logger
from rankgauge.planning.cutoffs import DefaultK
from rankgauge.planning.plan import Plan, make_plan
from rankgauge.planning.requests import Located, MetricSpec
from rankgauge.policy import Policy, Profile, profile
from rankgauge.result import Result
from rankgauge.scoring.columnar import score_run

__all__ = ["evaluate", "evaluate_runs", "plan_run"]


def evaluate(
    qrels: object,
    run: object,
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    profile: str | Policy | Profile = "trec10",
    policy: Mapping[str, Any] | None = None,
    rel: float | None = None,
    k: int | None = None,
    columns: Mapping[str, str] | None = None,
    catalog: Catalog | None = None,
) -> Result:
    """
    Evaluate a run against judgments.

    ::

        result = rankgauge.evaluate("qrels.txt", "run.txt", ["ndcg@10", "AP"])
        result["AP"].mean

    Args:
        qrels: A path (TREC or BEIR qrels, Parquet, CSV, JSON; compressed or not), ``-`` for standard input, a mapping
            ``{query: {document: grade}}``, or a polars, pandas or Arrow table.

        run: The same: a TREC run, BEIR results, a mapping ``{query: {document: score}}``, or a table.

        metrics: Metrics in any spelling.

        profile: The conventions; trec_eval's by default. Judged queries that the run lacks count as 0 under it.

        policy: Policy options that differ from the profile's, such as ``{"ties": "error"}``.

        rel: The grade from which on a document is relevant, instead of the profile's.

        k: The cutoff for whatever says none.

        columns: The tables' own names for `query`, `document`, `grade` and `score`.

        catalog: What plugins offer; by default everything that is installed.

    Returns:
        One score for each judged query and metric, in byte order of the query ids.

    Raises:
        PlanError: Metrics that cannot be resolved, or need more than ids; before anything is read.

        DataError: Judgments or runs that cannot be used, every problem at once.

        NothingToEvaluateError: No query of the run is judged.
    """
    results = evaluate_runs(
        qrels,
        {"run": run},
        metrics,
        profile=profile,
        policy=policy,
        rel=rel,
        k=k,
        columns=columns,
        catalog=catalog,
    )
    return results["run"]


def evaluate_runs(
    qrels: object,
    runs: Mapping[str, object],
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    profile: str | Policy | Profile = "trec10",
    policy: Mapping[str, Any] | None = None,
    rel: float | None = None,
    k: int | None = None,
    columns: Mapping[str, str] | None = None,
    catalog: Catalog | None = None,
) -> dict[str, Result]:
    """
    Evaluate several runs against the same judgments, which are read once.

    Args:
        qrels: As in `evaluate`.

        runs: Runs by name, each as in `evaluate`.

        metrics: As in `evaluate`.

        profile: As in `evaluate`.

        policy: As in `evaluate`.

        rel: As in `evaluate`.

        k: As in `evaluate`.

        columns: As in `evaluate`.

        catalog: As in `evaluate`.

    Returns:
        A result for each run, by name, in the order given.

    Raises:
        RankgaugeError: As in `evaluate`.
    """
    plan = plan_run(metrics, profile=profile, policy=policy, rel=rel, k=k, catalog=catalog)
    judgments = qrels if isinstance(qrels, Qrels) else open_qrels(qrels, columns=columns)
    return {name: _evaluated(plan, judgments, run, columns) for name, run in runs.items()}


def plan_run(
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    profile: str | Policy | Profile = "trec10",
    policy: Mapping[str, Any] | None = None,
    rel: float | None = None,
    k: int | None = None,
    catalog: Catalog | None = None,
) -> Plan:
    """
    Resolve the evaluation of a run before anything is read.

    Args:
        metrics: As in `evaluate`.

        profile: As in `evaluate`.

        policy: As in `evaluate`.

        rel: As in `evaluate`.

        k: As in `evaluate`.

        catalog: As in `evaluate`.

    Returns:
        The plan.

    Raises:
        PlanError: Metrics that cannot be resolved, or need more than ids.
    """
    is_one = isinstance(metrics, str | Mapping | Located) or not isinstance(metrics, Sequence)
    specs = (cast("MetricSpec", metrics),) if is_one else tuple(cast("Sequence[MetricSpec]", metrics))
    options = tuple((policy or {}).items())
    wanted = (specs, profile, options, rel, k, catalog or _installed())
    try:
        hash(wanted)
    except TypeError:  # a mapping, or a profile of one's own
        return _planned(*wanted)
    return _planned_once(*wanted)


def _planned(
    specs: tuple[MetricSpec, ...],
    choice: str | Policy | Profile,
    options: tuple[tuple[str, Any], ...],
    rel: float | None,
    k: int | None,
    catalog: Catalog,
) -> Plan:
    chosen = profile(choice).adapted(dict(options), rel)
    default_k = None if k is None else DefaultK(k, "k")
    return make_plan(specs, catalog=catalog, profile=chosen, default_k=default_k, by_id=True)


_planned_once = functools.lru_cache(maxsize=64)(_planned)
"""Plans are values, and evaluating is often done in a loop."""


@functools.cache
def _installed() -> Catalog:
    """Return what is installed, found once a process."""
    return Catalog.discover()


def _evaluated(plan: Plan, qrels: Qrels, run: object, columns: Mapping[str, str] | None) -> Result:
    source = open_run(run, columns=columns)
    judged = _judged(source, qrels, plan.profile)
    query_ids = [qrels.query_names[place] for place in judged.places.tolist()]
    scored = score_run(plan, judged, query_ids)
    scored.notes.extend([*source.notes, *_notes(judged, plan)])
    for note in scored.notes:
        logger("engine").info(note)
    return Result.of(scored, _manifest(plan, qrels, source, judged, is_argument=isinstance(run, Mapping)))


def _judged(source: RunSource, qrels: Qrels, profile: Profile) -> JudgedRun:
    collector = RunCollector(qrels, profile)
    if isinstance(source, MappingRun):
        judge_mapping(source.rankings, collector)
        return collector.finish(source.name or "the run")
    try:
        _judge_parts(source.parts(thread_count()), collector)
    except ScatteredError:
        logger("engine").info("the queries of %s do not stand together; they are grouped first", source.name)
        collector = RunCollector(qrels, profile)
        _judge_parts([source.grouped()], collector)
    return collector.finish(source.name or "the run")


def _judge_parts(parts: Sequence[Iterator[RankingBatch]], collector: RunCollector) -> None:
    work_on_parts(parts, lambda _: BatchJudge(collector).add)


def _notes(run: JudgedRun, plan: Plan) -> list[str]:
    """Say what a user should know of how the run fits the judgments."""
    policy = plan.profile.policy
    notes = []
    n_missing, n = int(np.count_nonzero(run.missing)), len(run.places)
    if n_missing:
        counted = "counted as 0" if policy.missing_output == "zero" else "left out of every mean"
        notes.append(f"{n_missing:,} of {_queries(n, 'judged ')} without results in the run; {counted}")
    if run.n_unjudged:
        notes.append(f"{_queries(run.n_unjudged)} of the run not judged, and left out")
    if run.n_repeats:
        results = "result" if run.n_repeats == 1 else "results"
        notes.append(f"{run.n_repeats:,} repeated {results} dropped (policy duplicates={policy.duplicates})")
    if run.n_tied:
        notes.append(
            f"{run.n_tied:,} of {_queries(n)} with equal scores whose order can change a metric (policy "
            f"ties={policy.ties})"
        )
    return notes


def _queries(count: int, kind: str = "") -> str:
    return f"{count:,} {kind}{'query' if count == 1 else 'queries'}"


def _manifest(plan: Plan, qrels: Qrels, source: RunSource, run: JudgedRun, *, is_argument: bool) -> dict[str, Any]:
    manifest = plan_manifest(plan)
    manifest["relevance"] = plan.profile.relevance
    manifest["dataset"] = {
        "name": Path(qrels.source).name or None,
        "path": qrels.source or None,
        "queries": len(qrels.ids),
        "judgments": qrels.n_judgments,
        "fingerprint": qrels.fingerprint,
    }
    manifest["outputs"] = {
        "from": "argument" if is_argument else "run",
        "path": source.name or None,
        "tag": source.tag or None,
        "queries_missing": int(np.count_nonzero(run.missing)),
        "queries_unjudged": run.n_unjudged,
        "queries_with_ties": run.n_tied,
        "results_dropped": run.n_repeats,
        "metadata": dict(source.metadata),
    }
    return manifest
