"""Comparison: results against each other: pairs, differences, tests, power, and their words."""

from rankgauge.comparison.differences import Change, CohortDifference, Comparison, MetricComparison, RunComparison

__all__ = ["Change", "CohortDifference", "Comparison", "MetricComparison", "RunComparison"]
