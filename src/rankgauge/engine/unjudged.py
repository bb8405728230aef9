"""
Unjudged results: what they could make of the means of a run, and the means without them.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from rankgauge.catalog import Catalog
from rankgauge.columns import Floats, Judged
from rankgauge.engine.reopen import is_of_run, run_evaluation_of
from rankgauge.engine.runs import RunEvaluation, evaluate_planned, judge_run
from rankgauge.errors import ParameterError, ResultError
from rankgauge.planning.fingerprint import fingerprint_of
from rankgauge.planning.plan import Plan
from rankgauge.pooling.bounds import Bounds, check_bounds, mean_bounds
from rankgauge.result import MetricSummary, ResultValues
from rankgauge.scoring.score import SCORED
from rankgauge.stats import aggregate

__all__ = ["bounds", "condensed", "evaluation_behind", "judged_again", "scored_only", "unjudged_share"]


def bounds(
    result: ResultValues, *, grade: float | None = None, catalog: Catalog | None = None
) -> dict[str, Bounds | None]:
    """Return the worst and the best case of each mean of a run; see `Result.bounds`."""
    evaluation = evaluation_behind(result, catalog)
    plan, qrels = evaluation.plan, evaluation.qrels
    check_bounds(plan.profile.policy)
    highest = float(qrels.grades.max(initial=0.0))
    if grade is not None and not highest <= grade < np.inf:
        msg = f"the highest grade of a document is {highest:g} in the judgments, so it cannot be {grade!r}"
        raise ParameterError(msg)
    judged = {unit: judged_again(evaluation, result, unit) for unit in plan.units}
    top = (highest or 1.0) if grade is None else float(grade)
    planned = {metric.name: metric for metric in plan.metrics}
    return {
        name: mean_bounds(plan, planned[name], judged[planned[name].unit], column.values, top)
        for name, column in result.metrics.items()
    }


def condensed(result: ResultValues, *, catalog: Catalog | None = None) -> ResultValues:
    """Return the same evaluation over condensed lists; see `Result.condensed`."""
    evaluation = evaluation_behind(result, catalog)
    plan = _judged_only(evaluation.plan)
    return evaluate_planned(plan, evaluation.qrels, {"run": evaluation.run}, columns=evaluation.columns)["run"]


def evaluation_behind(result: ResultValues, catalog: Catalog | None) -> RunEvaluation:
    """Return the plan, the judgments and the run of a result; `ResultError` if it is not of a run."""
    if not is_of_run(result):
        raise ResultError(
            "what unjudged documents could change is found by reading the run again, and this result does not say "
            "where that is: it is of samples, or from a baseline file; give the run and its judgments, or their folder"
        )
    return run_evaluation_of(result, catalog=catalog)


def judged_again(evaluation: RunEvaluation, result: ResultValues, unit: str | None = None) -> Judged:
    """Judge a run again, by unit; return the queries of a result."""
    collector, evidence = judge_run(evaluation.qrels, evaluation.run, evaluation.plan, unit=unit)
    names = [evaluation.qrels.query_names[place] for place in collector.places.tolist()]
    if tuple(names) == result.sample_ids:
        return evidence.judged
    places = {name: place for place, name in enumerate(names)}
    if absent := [name for name in result.sample_ids if name not in places]:
        msg = f"the run is not what the result was computed from: query {absent[0]!r} is not evaluated any more"
        raise ResultError(msg)
    return evidence.judged.take([places[name] for name in result.sample_ids])


def _judged_only(plan: Plan) -> Plan:
    """Return a plan for the same columns over condensed lists, with definitions that say so."""
    metrics = []
    for metric in plan.metrics:
        definition = {**metric.definition, "policy": {**metric.definition["policy"], "judged_only": True}}
        metrics.append(dataclasses.replace(metric, definition=definition, fingerprint=fingerprint_of(definition)))
    return dataclasses.replace(plan, metrics=tuple(metrics), profile=plan.profile.adapted({"judged_only": True}))


def scored_only(column: MetricSummary) -> Floats:
    """Return the values of a column, NaN for samples that have no score, whatever these count as."""
    return np.where(column.codes == SCORED, column.values, np.nan)


def unjudged_share(column: MetricSummary) -> float | None:
    """Return the mean of `unjudged@k` over the samples that have results; None where none has."""
    shares = scored_only(column)
    return aggregate(shares[~np.isnan(shares)])
