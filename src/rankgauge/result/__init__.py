"""Results: scores and counts of an evaluation, which can be saved, loaded and merged."""

from rankgauge.result.column_info import MetricInfo
from rankgauge.result.meaning import Origin
from rankgauge.result.result import Result
from rankgauge.result.sample_rows import SampleError, SampleText
from rankgauge.result.summary import MetricSummary

__all__ = [
    "MetricInfo",
    "MetricSummary",
    "Origin",
    "Result",
    "SampleError",
    "SampleText",
]
