"""Results: scores and counts of an evaluation, which can be saved, loaded and merged."""

from rankgauge.result.summary import MetricInfo, MetricSummary
from rankgauge.result.values import Origin, Result, SampleError, SampleText, open_result

__all__ = [
    "MetricInfo",
    "MetricSummary",
    "Origin",
    "Result",
    "SampleError",
    "SampleText",
    "open_result",
]
