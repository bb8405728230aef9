"""
Statistics: pure functions on numbers, which know of no sample and no metric.

Aggregates and estimates are independent of the order of values and of batching; sign-flip tests give the same bits on
every machine.
"""

from rankgauge.stats.aggregates import (
    AGGREGATES,
    PERCENTILES,
    ExactSum,
    aggregate,
    concluded,
    exact_sum,
    histogram,
    pass_rate,
    percentile,
    percentile_of_sorted,
    standard_deviation,
    sum_of_squares,
    terms,
)
from rankgauge.stats.agreement import Agreement, agreement
from rankgauge.stats.estimates import TIED, MeanEstimate, estimate_mean, weighted_mean
from rankgauge.stats.intervals import MeanInterval, interval_of_mean, is_binary

__all__ = [
    "AGGREGATES",
    "PERCENTILES",
    "TIED",
    "Agreement",
    "ExactSum",
    "MeanEstimate",
    "MeanInterval",
    "aggregate",
    "agreement",
    "concluded",
    "estimate_mean",
    "exact_sum",
    "histogram",
    "interval_of_mean",
    "is_binary",
    "pass_rate",
    "percentile",
    "percentile_of_sorted",
    "standard_deviation",
    "sum_of_squares",
    "terms",
    "weighted_mean",
]
