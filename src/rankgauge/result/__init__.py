"""Results: scores with honest denominators, in memory and as values that can be merged."""

from rankgauge.result.result import Result, SampleError
from rankgauge.result.summary import MetricInfo, MetricSummary

__all__ = ["MetricInfo", "MetricSummary", "Result", "SampleError"]
