"""
A comparison as CSV: one row a run and metric, with all digits.
"""

from __future__ import annotations

import csv
import io

from rankgauge.comparison.values import Comparison
from rankgauge.report.comparison.wording import with_condensed

__all__ = ["comparison_csv"]

_HEADER = (
    "run",
    "baseline",
    "metric",
    "verdict",
    "n",
    "baseline_mean",
    "mean",
    "difference",
    "low",
    "high",
    "confidence",
    "p",
    "p_t",
    "p_adjusted",
    "dz",
    "g",
    "wins",
    "ties",
    "losses",
    "detectable",
)


def comparison_csv(comparison: Comparison) -> str:
    """Lay a comparison out as CSV; what does not exist is an empty field, and condensed lists have own rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    for pair in comparison.comparisons:
        for name, metric in with_condensed(pair).items():
            low, high = metric.interval or (None, None)
            own = {"run": pair.run, "baseline": pair.baseline, "metric": name, "low": low, "high": high}
            writer.writerow([own[field] if field in own else getattr(metric, field) for field in _HEADER])
    return text.getvalue()
