"""
Scoring judged runs: what `Collector` does for samples, for a run that was judged as columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.judging import Evidence, JudgedRun
from rankgauge.planning.plan import Plan
from rankgauge.scoring.collect import Scored, ScoredMetric
from rankgauge.scoring.score import MISSING, Flaw, refuse, score_batch

__all__ = ["score_run"]

_MISSING = Flaw(MISSING, "the run has no results for this query")


def score_run(plan: Plan, run: JudgedRun, query_ids: Sequence[str]) -> Scored:
    """
    Score a judged run.

    Args:
        plan: What to compute, planned *by_id*.

        run: The run.

        query_ids: The queries that are evaluated, in order.

    Returns:
        The scores, in order of the queries.

    Raises:
        SampleRefusedError: The policy turns a query into an error.
    """
    policy = plan.profile.policy
    evidence = Evidence(run.judged, without_gold=(), faults={}, rankings=(), looks=None)
    flawed = dict.fromkeys(np.flatnonzero(run.missing).tolist(), _MISSING)
    notes: list[str] = []
    scored: list[ScoredMetric] = []
    for metric in plan.metrics:
        extra: dict[str, float] = {}
        if metric.infers_max_grade:
            extra["max_grade"] = float(run.judged.gold.grade.max(initial=0.0))
            notes.append(f"{metric.name}: max_grade was inferred from the data: {extra['max_grade']:g}")
        k, sources = metric.cut.resolve([None] * run.judged.n, plan.default_k)
        target = metric.targets[0]
        outcome = score_batch(metric, evidence, flawed, k, policy, extra, target.gold)
        spread = None if k is None else (int(np.min(k)), int(np.max(k)))
        scored.append(ScoredMetric(metric, target, outcome, spread, sources, extra, None))
    refuse({metric.planned.name: metric.outcome for metric in scored}, query_ids, flawed, policy)
    tags: list[tuple[str, ...]] = [()] * len(query_ids)
    return Scored(list(query_ids), tags, scored, flawed, notes)
