"""
Funnels: the samples of a result read again and followed through the stages of their pipeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.catalog import Catalog
from rankgauge.columns import Ints, Judged, Qrels, RunSource
from rankgauge.engine.reopen import column_of, evaluation_of, is_of_run, job_of, plan_of, reading_job
from rankgauge.engine.runs import judge_units
from rankgauge.errors import ResultError
from rankgauge.features.funnel.fates import Pipeline
from rankgauge.features.funnel.following import Following
from rankgauge.features.funnel.funnel import Funnel
from rankgauge.judging import Evidence, Target
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.result import Result
from rankgauge.result.wording import dataset_name
from rankgauge.samples import Output, Sample

if TYPE_CHECKING:
    from rankgauge.engine.evaluation import Evaluation

__all__ = ["first_funnel", "funnel", "funnel_of_runs", "stage_notes", "told_stages"]

_AT_ONCE = 1024

_LOOKED_AT = 1000
"""How many samples are searched for stages if none are named."""


def funnel(result: Result, metric: str | None = None, *, items: int = 5, catalog: Catalog | None = None) -> Funnel:
    """
    Follow the relevant items through the stages of the pipeline: what each adds, loses and could still reach.

    The data are read again, as for `Result.explain`; their outputs tell their `stages`.

    Args:
        result: The result.

        metric: The column, in any spelling; the first one by default.

        items: How many lost items to trace for each stage, and of those never retrieved, at the most.

        catalog: What plugins offer, for a result from a folder; by default everything that is installed.

    Returns:
        The funnel, over the samples whose output has every stage.

    Raises:
        ResultError: As `Result.explain`; or the column looks for no relevant items in whole outputs.

        DataError: No output tells its stages, or they are not those of one pipeline; or as `Result.explain`.
    """
    if is_of_run(result):
        raise ResultError("a funnel is of outputs that tell their stages, and this is a result of a run")
    evaluation = evaluation_of(result, catalog=catalog)
    column = column_of(result, metric)
    plan = plan_of(evaluation, result, column.name)
    planned = plan.column(column.name)
    target = planned.target_called(column.info.judged)
    _check(planned, target)
    pipeline = Pipeline.of(job_of(result, evaluation, plan).read(), evaluation.data.label)
    following = Following(plan, planned, target, pipeline, column.info.inferred)
    for batch in job_of(result, evaluation, plan).batches(_AT_ONCE):
        following.add(batch)
    return following.funnel(dataset_name(result), result.manifest, items)


def first_funnel(result: Result, catalog: Catalog | None) -> Funnel:
    """Follow the relevant items by the first metric that can be followed."""
    refused: list[ResultError] = []
    for name in result.metrics:
        try:
            return funnel(result, name, catalog=catalog)
        except ResultError as error:
            refused.append(error)
    raise refused[0]


def funnel_of_runs(
    plan: Plan, qrels: Qrels, runs: Mapping[str, RunSource], sources: Mapping[str, Sequence[str]], *, items: int = 5
) -> Funnel:
    """
    Follow the relevant documents through runs, one for each stage; the first metric of a plan is followed.

    A query without results in a run is one for which that stage found nothing.
    """
    column = plan.metrics[0]
    target = column.targets[0]
    _check(column, target)
    pipeline = Pipeline({name: tuple(sources[name]) for name in runs})
    judged = {name: judge_units(qrels, run, plan) for name, run in runs.items()}
    everywhere = np.ones(qrels.n_queries, dtype=np.bool_)
    for collector, of_units in judged.values():
        there = np.zeros(qrels.n_queries, dtype=np.bool_)
        there[np.delete(collector.places, list(of_units[target.unit].faults))] = True
        everywhere &= there
    has_gold = np.zeros(qrels.n_queries, dtype=np.bool_)
    has_gold[qrels.owners] = True
    chosen = np.flatnonzero(everywhere & has_gold)
    following = Following(plan, column, target, pipeline, {})
    if left_out := int(np.count_nonzero(has_gold & ~everywhere)):
        following.leave_out("no results in some run, or none that can be judged", left_out)
    if len(chosen):
        evidence = {}
        for name, (collector, of_units) in judged.items():
            taken = of_units[target.unit].judged.take(np.searchsorted(collector.places, chosen))
            evidence[name] = Evidence(taken)
        first_gold = (np.cumsum(qrels.lengths) - qrels.lengths)[chosen]

        def named(judged: Judged, rows: Ints) -> Iterator[str]:
            return (qrels.names[row] for row in first_gold[judged.gold.sample[rows]] + judged.gold.rank[rows] - 1)

        names = [qrels.query_names[place] for place in chosen.tolist()]
        following.take(names, evidence, named, [None] * len(names))
    return following.funnel(qrels.source, {}, items)


def told_stages(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the stages that the outputs of the first samples tell; raise `DataError` if they tell none."""
    first = reading_job(evaluation.plan(), evaluation.data, _LOOKED_AT).read()
    return tuple(Pipeline.of(first, evaluation.data.label).sources)


def stage_notes(plan: Plan, column: PlannedMetric, target: Target, sample: Sample, missing: Sequence[str]) -> list[str]:
    """Return where gold items of one sample that were not found were lost, by stage; nothing without stages."""
    output = sample.output
    if not missing or target.stage is not None or not isinstance(output, Output) or output.stages is None:
        return []
    pipeline = Pipeline.of([sample], sample.id)
    if pipeline.lacks(sample):
        return []
    following = Following(plan, column, target, pipeline, {})
    following.add([sample])
    return [item.sentence for item in following.traced(len(missing)) if item.id in set(missing)]


def _check(planned: PlannedMetric, target: Target) -> None:
    """Refuse a column that cannot be followed."""
    if target.stage is not None:
        raise ResultError(f"{planned.name!r} is of one stage; a funnel follows a metric of the whole output")
    if planned.metric.aggregate != "mean":
        raise ResultError(f"{planned.name!r} is no mean over questions, and stages are compared by means; name one")
    if target.judges != "retrieved" or not planned.metric.needs_gold:
        raise ResultError(f"{planned.name!r} does not look for relevant items in each ranking; name a metric that does")
