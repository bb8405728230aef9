"""
One sample at a time: the shortest way from a sample to its scores, for harnesses that call one by one.
"""

from __future__ import annotations

from typing import Any

from rankgauge.errors import PlanError
from rankgauge.judging import Evidence, Target, judge
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.samples import Sample
from rankgauge.scoring.refusal import refuse
from rankgauge.scoring.score import JudgedBatch, MetricScores, Outcome, flaws, score_metric

__all__ = ["check_stream", "score_one"]


def score_one(plan: Plan, sample: Sample, *, details: bool) -> dict[str, tuple[Outcome, dict[str, Any] | None]]:
    """Return for each column the outcome over one sample, and the facts behind it; see `check_stream`."""
    evidence: dict[Target, Evidence] = {}
    batch = JudgedBatch(evidence, flaws([sample]), [sample.k], [sample])
    outcomes: dict[str, tuple[Outcome, dict[str, Any] | None]] = {}
    for metric in plan.metrics:
        target = _target(metric, plan, sample, evidence, details=details)
        scores = score_metric(plan, metric, target, batch, {})
        outcomes[metric.name] = (scores.outcome, _facts(scores, batch) if details else None)
    refuse(
        {name: outcome for name, (outcome, _) in outcomes.items()},
        lambda: [sample.id],
        batch.flawed,
        plan,
    )
    return outcomes


def _facts(scores: MetricScores, batch: JudgedBatch) -> dict[str, Any]:
    from rankgauge.scoring.details import explain_batch  # seldom asked for

    return explain_batch(scores, batch)[0]


def _target(
    metric: PlannedMetric, plan: Plan, sample: Sample, known: dict[Target, Evidence], *, details: bool
) -> Target:
    """Judge against the first kind of gold that the sample has, or else the first; return which."""
    for target in metric.targets:
        if target not in known:
            matcher = metric.matchers.get(target)
            judged = judge([sample], target, plan.profile, matcher, keep=plan.keep(rankings=details))
            known[target] = judged.trusting()
        if known[target].has_gold:
            return target
    return metric.targets[0]


def check_stream(plan: Plan, where: str, *, merges: bool = False) -> None:
    """
    Raise `PlanError` for a plan that needs the whole data set, which *where* (what is called) never sees.

    Metrics of whole runs are allowed where it *merges*: where its parts can be merged to the result of the whole.
    """
    problems = [
        f"{metric.name!r} infers max_grade from the whole data set, which {where} never sees; "
        f"give it, with the highest grade of the scale: {metric.metric.alias}(max_grade=3)"
        for metric in plan.metrics
        if metric.infers_max_grade
    ]
    problems += [
        f"{metric.name!r} has one value for a whole run, which {where} never sees; leave it out, or use run()"
        for metric in plan.metrics
        if metric.metric.is_whole and not merges
    ]
    if problems:
        raise PlanError(f"{where} cannot be used with this plan:", problems)
