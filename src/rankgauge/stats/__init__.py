"""
Statistics: pure functions on numbers, which know of no sample and no metric.

Aggregates and estimates are independent of the order of values and of batching; sign-flip tests give the same bits on
every machine.
"""

from rankgauge.stats.aggregates import AGGREGATES, aggregate, histogram, pass_rate, percentile, standard_deviation
from rankgauge.stats.agreement import Agreement, agreement
from rankgauge.stats.estimates import MeanEstimate, estimate_mean

__all__ = [
    "AGGREGATES",
    "Agreement",
    "MeanEstimate",
    "aggregate",
    "agreement",
    "estimate_mean",
    "histogram",
    "pass_rate",
    "percentile",
    "standard_deviation",
]
