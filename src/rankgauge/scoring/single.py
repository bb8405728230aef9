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
from rankgauge.scoring.details import explain_batch
from rankgauge.scoring.score import Outcome, flaws, refuse, score_batch

__all__ = ["check_stream", "score_one"]


def score_one(plan: Plan, sample: Sample, *, details: bool = False) -> dict[str, tuple[Outcome, dict[str, Any] | None]]:
    """
    Score one sample.

    Args:
        plan: What to compute; see `check_stream`.

        sample: The sample.

        details: Whether to compute the facts behind every score.

    Returns:
        For each column the outcome, over one sample, and the facts.

    Raises:
        SampleRefusedError: The policy turns the sample into an error.
    """
    samples = [sample]
    flawed = flaws(samples)
    evidence: dict[Target, Evidence] = {}
    found: dict[str, tuple[Outcome, dict[str, Any] | None]] = {}
    for metric in plan.metrics:
        target = _target(metric, plan, samples, evidence, details=details)
        judged = evidence[target]
        k, _ = metric.cut.resolve([sample.k], plan.default_k)
        outcome = score_batch(metric, judged, flawed, k, plan.profile.policy, {}, target.gold)
        facts = explain_batch(metric, judged, samples, k, {})[0] if details else None
        found[metric.name] = (outcome, facts)
    refuse({name: outcome for name, (outcome, _) in found.items()}, [sample.id], flawed, plan.profile.policy)
    return found


def _target(
    metric: PlannedMetric, plan: Plan, samples: list[Sample], known: dict[Target, Evidence], *, details: bool
) -> Target:
    """Judge against the first kind of gold that the sample has, or else the first; return which."""
    for target in metric.targets:
        if target not in known:
            matcher = metric.matchers.get(target)
            known[target] = judge(samples, target, plan.profile, matcher, keep_rankings=details)
        if known[target].has_gold:
            return target
    return metric.targets[0]


def check_stream(plan: Plan, where: str) -> None:
    """
    Refuse a plan that needs the whole data set where it is never seen at once.

    Args:
        plan: The plan.

        where: What is being called, for the message.

    Raises:
        PlanError: A metric infers a parameter from the whole data set.
    """
    problems = [
        f"{metric.name!r} infers max_grade from the whole data set, which {where} never sees; "
        f"give it, with the highest grade of the scale: {metric.metric.alias}(max_grade=3)"
        for metric in plan.metrics
        if metric.infers_max_grade
    ]
    if problems:
        msg = f"{where} cannot be used with this plan:"
        raise PlanError(msg, problems)
