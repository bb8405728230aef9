"""Statistics over the values of one metric; all of them independent of order and batching."""

from rankgauge.stats.aggregates import aggregate, histogram, pass_rate, percentile, standard_deviation
from rankgauge.stats.agreement import Agreement, agreement

__all__ = ["Agreement", "aggregate", "agreement", "histogram", "pass_rate", "percentile", "standard_deviation"]
