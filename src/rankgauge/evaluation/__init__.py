"""Evaluation: resolving everything into a plan, judging once, scoring, collecting."""

from rankgauge.evaluation.plan import Plan, make_plan
from rankgauge.evaluation.requests import MetricSpec
from rankgauge.evaluation.resolve import PlannedMetric
from rankgauge.evaluation.run import Collector, Scored
from rankgauge.evaluation.scoring import STATUSES, Outcome

__all__ = ["STATUSES", "Collector", "MetricSpec", "Outcome", "Plan", "PlannedMetric", "Scored", "make_plan"]
