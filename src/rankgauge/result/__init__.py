"""Results: scores and counts of an evaluation, which can be saved, loaded and merged."""

from rankgauge.result.origin import Origin
from rankgauge.result.result import Result, SampleError, open_result
from rankgauge.result.summary import MetricInfo, MetricSummary
from rankgauge.result.texts import SampleText

__all__ = [
    "MetricInfo",
    "MetricSummary",
    "Origin",
    "Result",
    "SampleError",
    "SampleText",
    "open_result",
]
