"""
Scoring one column of a plan again, for samples given one by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from rankgauge.judging import Target, judge
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.samples import Sample
from rankgauge.scoring.score import FAILED, JudgedBatch, MetricScores, flaws, score_metric

__all__ = ["Scorer"]


class Scorer(NamedTuple):
    """
    One column of a plan, judged against one kind of gold.

    Attributes:
        plan: The plan.

        column: The column.

        target: What it is judged against: in a run that is the first kind that any sample of the data has.

        found: Parameters that were found in the whole data.
    """

    plan: Plan
    column: PlannedMetric
    target: Target
    found: Mapping[str, float] = MappingProxyType({})

    def scored(self, samples: Sequence[Sample]) -> tuple[MetricScores, JudgedBatch]:
        """Judge and score samples, by the road that every run takes; the batch keeps samples and rankings."""
        matcher = self.column.matchers.get(self.target)
        evidence = judge(samples, self.target, self.plan.profile, matcher, keep=self.plan.keep(rankings=True))
        batch = JudgedBatch({self.target: evidence}, flaws(samples), [sample.k for sample in samples], list(samples))
        return score_metric(self.plan, self.column, self.target, batch, self.found), batch

    def values(self, samples: Sequence[Sample]) -> list[float | None]:
        """Return the scores of samples, None where nothing counts and where the metric fails."""
        outcome = self.scored(samples)[0].outcome
        pairs = zip(outcome.values.tolist(), outcome.status.tolist(), strict=True)
        return [None if math.isnan(value) or status == FAILED else value for value, status in pairs]
