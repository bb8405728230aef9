"""Comparison: pairs of results, their differences, gates, and what documents that nobody judged could change."""

from rankgauge.comparison.differences import Change, CohortDifference, Comparison, MetricComparison, RunComparison

__all__ = ["Change", "CohortDifference", "Comparison", "MetricComparison", "RunComparison"]
