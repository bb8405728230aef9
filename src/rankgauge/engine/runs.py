"""
Evaluating runs: from judgments and rankings, however they are given, to results.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge.catalog import Catalog
from rankgauge.columns import IdSketcher, Qrels, RankingBatch, RunSource, Seen
from rankgauge.columns.rows import Ints
from rankgauge.columns.slices import Words
from rankgauge.engine.manifest import make_manifest, make_settings
from rankgauge.errors import PolicyError
from rankgauge.io.mappings import MappingRun
from rankgauge.io.sources import open_qrels, open_run
from rankgauge.io.trec import RunFile
from rankgauge.judging import BatchJudge, Evidence, Keep, RunCollector, RunCounts, ScatteredError, judge_mapping
from rankgauge.judging.keeping import Keeper
from rankgauge.judging.outputs import prepare
from rankgauge.judging.parts import Task, in_order, thread_count, work_on_parts
from rankgauge.judging.queries import read_queries
from rankgauge.judging.top import TopCollector
from rankgauge.logs import logger
from rankgauge.planning.cutoffs import DefaultK
from rankgauge.planning.plan import Plan, make_plan
from rankgauge.planning.requests import MetricSpec, specs_of
from rankgauge.policy import Policy, Profile
from rankgauge.result import Origin, Result
from rankgauge.scoring.collect import Collector

__all__ = ["RunEvaluation", "evaluate", "evaluate_plan", "evaluate_runs", "installed", "judge_run", "plan_run"]


class RunEvaluation(NamedTuple):
    """
    What a result of a run came from: `evaluate_plan` takes it.

    Attributes:
        plan: What was computed.

        qrels: The judgments.

        run: The run, which can be read again.

        columns: The tables' own names for our columns, where they were given.
    """

    plan: Plan
    qrels: Qrels
    run: RunSource
    columns: Mapping[str, str] | None = None


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

        k: Default cutoff, used when a metric has none.

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
    return evaluate_plan(
        plan,
        qrels
        if isinstance(qrels, Qrels)
        else open_qrels(qrels, columns=columns, intents="intents" in plan.needs, catalog=plan.catalog),
        runs,
        columns=columns,
    )


def evaluate_plan(
    plan: Plan,
    qrels: Qrels,
    runs: Mapping[str, object],
    *,
    columns: Mapping[str, str] | None = None,
    sketch_ids: bool = False,
) -> dict[str, Result]:
    """
    Evaluate runs by a plan that `plan_run` has made, against judgments that were read.

    Of several TREC files each is judged in a thread of its own, some of them at once; a single one in parts.
    """

    def begin(name: str) -> Task[_JudgedRun]:
        run = runs[name]
        source = open_run(run, columns=columns, catalog=plan.catalog)
        sketcher = IdSketcher() if sketch_ids else None
        judge = functools.partial(judge_run, qrels, source, plan, sketcher, threads=1 if len(runs) > 1 else None)
        origin = "argument" if isinstance(run, Mapping) else "run"
        return Task(lambda: _JudgedRun(source, origin, sketcher, *judge()), may_wait=not isinstance(source, RunFile))

    judged = in_order(map(begin, runs), thread_count())
    return {name: _evaluated(plan, qrels, columns, run) for name, run in zip(runs, judged, strict=True)}


def plan_run(
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    profile: str | Policy | Profile = "trec10",
    policy: Mapping[str, Any] | None = None,
    rel: float | None = None,
    k: int | None = None,
    catalog: Catalog | None = None,
) -> Plan:
    """Resolve the evaluation of a run before anything is read; arguments and errors are those of `evaluate`."""
    specs = specs_of(metrics)
    slip: object = policy  # such as the name of a profile
    if not isinstance(slip, Mapping | None):
        msg = f"policy takes options such as {{'ties': 'error'}}, not {slip!r}; a named profile is given as profile="
        raise PolicyError(msg)
    options = tuple((policy or {}).items())
    wanted = (specs, profile, options, rel, k, catalog or installed())
    try:
        hash(wanted)
    except TypeError:  # a metric given as a mapping cannot be hashed
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
    chosen = catalog.profile(choice).adapted(dict(options), rel)
    default_k = None if k is None else DefaultK(k, "k")
    return make_plan(specs, catalog=catalog, profile=chosen, default_k=default_k, by_id=True)


_planned_once = functools.lru_cache(maxsize=64)(_planned)
"""Plans are values, and evaluating is often done in a loop."""


@functools.cache
def installed() -> Catalog:
    """Return what is installed, found once a process."""
    return Catalog.discover()


class _JudgedRun(NamedTuple):
    """A run that was judged, and is not scored yet."""

    source: RunSource
    origin: str
    sketcher: IdSketcher | None
    collector: RunCollector
    evidence: Evidence


def _evaluated(plan: Plan, qrels: Qrels, columns: Mapping[str, str] | None, run: _JudgedRun) -> Result:
    """Score a judged run."""
    source, sketcher, judged, evidence = run.source, run.sketcher, run.collector, run.evidence
    collector = Collector(plan, sketcher=sketcher)
    query_ids = functools.partial(_query_ids, qrels, judged.places)
    collector.add_run(query_ids, evidence, judged.missing)
    scored = collector.finish()
    counts = judged.counts(evidence)
    scored.notes.extend([*source.notes, *counts.notes(plan.profile.policy)])
    for note in scored.notes:
        logger("engine").info(note)
    evaluation = RunEvaluation(plan, qrels, source, columns)
    further: dict[str, Any] = {} if sketcher is None else {"retrieved_ids": sketcher.sketch().as_dict()}
    further["files"] = {
        "qrels": _absolute(qrels.source),
        "run": _absolute(source.name),
        "columns": None if columns is None else dict(columns),
    }
    manifest = functools.partial(_manifest, evaluation, run.origin, counts, further, datetime.now(UTC))
    gold_keys = functools.partial(_gold_keys, qrels, judged.places)
    settings = functools.partial(_settings, plan)
    return Result.of(scored, manifest, Origin(evaluation), gold_keys=gold_keys, settings=settings)


def _query_ids(qrels: Qrels, places: Ints) -> Sequence[str]:
    """Return the names of some queries; a table of means needs none."""
    names = qrels.query_names
    return names if len(places) == len(names) else [names[place] for place in places.tolist()]


def _gold_keys(qrels: Qrels, places: Ints) -> Words:
    """Return the gold keys of some queries; asked for only where results are compared, saved or pickled."""
    return qrels.gold_keys[places]


def judge_run(
    qrels: Qrels,
    source: RunSource,
    plan: Plan,
    sketcher: IdSketcher | None = None,
    *,
    top: TopCollector | None = None,
    require_overlap: bool = True,
    threads: int | None = None,
) -> tuple[RunCollector, Evidence]:
    """
    Read a run and judge it; the collector says which queries were evaluated, and *top* gets their first results.

    It is read in as many parts as there are *threads*; None for as many as the machine has processors for.
    """
    profile = plan.profile
    judged = RunCollector(qrels, profile, sketcher)
    if isinstance(source, MappingRun):
        judge_mapping(source.rankings, judged, source.refused)
        if top is not None:
            for batch in source.grouped():
                top.add(batch)
    else:
        try:
            _judge_parts(source.parts(threads or thread_count()), judged, top)
        except ScatteredError:
            logger("engine").info("the lines of a query are not together in %s; grouping them first", source.name)
            judged = RunCollector(qrels, profile, sketcher)
            if top is not None:
                top.clear()
            _judge_parts([source.grouped()], judged, top)
    evidence = judged.finish(source.name or "the run", require_overlap=require_overlap)
    if plan.needs & {"ids", "scores"}:
        names = [qrels.query_names[place] for place in judged.places.tolist()]
        evidence = replace(evidence, judged=replace(evidence.judged, shown=_shown(qrels, source, plan, names)))
    return judged, evidence


def _shown(qrels: Qrels, source: RunSource, plan: Plan, names: Sequence[str]) -> list[Seen]:
    """Return what metrics see of some queries, whose rankings are read again whole, judged or not."""
    samples = read_queries(qrels, source, set(names))[0]
    ordered = [samples[name] for name in names]
    keeper = Keeper(Keep(needs=plan.needs), plan.profile)
    keeper.add(ordered, prepare(ordered, plan.profile, by_text=False), judged="retrieved")
    return keeper.shown or []


def _absolute(name: str) -> str | None:
    """Return the path of a file that can be read again; None for what was given in Python or on standard input."""
    return os.path.abspath(name) if name and os.path.isfile(name) else None  # noqa: PTH100, PTH113  # often in a loop; four times as fast


def _judge_parts(
    parts: Sequence[Iterator[RankingBatch]], collector: RunCollector, top: TopCollector | None = None
) -> None:
    work_on_parts(parts, lambda _: BatchJudge(collector, top).add)


def _manifest(
    evaluation: RunEvaluation, origin: str, counts: RunCounts, further: Mapping[str, Any], created_at: datetime
) -> dict[str, Any]:
    """Return the manifest, which takes longer to make than a few queries to evaluate, and is seldom asked for."""
    plan, qrels, source, _ = evaluation
    dataset = {
        "name": Path(qrels.source).name or None,
        "path": qrels.source or None,
        "queries": qrels.n_queries,
        "judgments": qrels.n_judgments,
        "fingerprint": qrels.fingerprint,
    }
    outputs = {
        "from": origin,
        "path": source.name or None,
        "tag": source.tag or None,
        **counts.facts(),
        "metadata": dict(source.metadata),
    }
    return {**make_manifest(plan, dataset, outputs, created_at=created_at), **_relevance(plan), **further}


def _settings(plan: Plan) -> dict[str, Any]:
    return {"interrupted": False, **make_settings(plan), **_relevance(plan)}


def _relevance(plan: Plan) -> dict[str, Any]:
    return {"relevance": plan.profile.relevance}
