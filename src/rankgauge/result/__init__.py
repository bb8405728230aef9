"""Results: scores and counts of an evaluation, which can be saved, loaded and merged."""

from rankgauge.result.summary import MetricInfo, MetricSummary
from rankgauge.result.values import Origin, ResultValues, SampleError, SampleText

__all__ = [
    "MetricInfo",
    "MetricSummary",
    "Origin",
    "ResultValues",
    "SampleError",
    "SampleText",
]
