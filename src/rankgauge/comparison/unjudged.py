"""
Unjudged documents in a comparison: how many there are, and whether the verdict stands without them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from rankgauge.comparison.bounds import Bounds
from rankgauge.comparison.pairing import UNJUDGED
from rankgauge.comparison.values import Comparison, MetricComparison, RunComparison, Unjudged
from rankgauge.result import Result

__all__ = ["unjudged_of", "with_condensed"]


def unjudged_of(result: Result, bounds: Mapping[str, Bounds | None] | None = None) -> Unjudged:
    """Return what is known of a result's unjudged documents: the columns of `unjudged@k` that it has, and bounds."""
    shares = {name: column.mean for name, column in result.metrics.items() if column.info.alias == UNJUDGED}
    known = {name: found for name, found in (bounds or {}).items() if found is not None}
    return Unjudged(shares, {name: (found.worst, found.best) for name, found in known.items()})


def with_condensed(comparison: Comparison, condensed: Comparison) -> Comparison:
    """Return a comparison whose metrics know what the same comparison over condensed lists found."""
    pairs = zip(comparison.comparisons, condensed.comparisons, strict=True)
    return dataclasses.replace(comparison, comparisons=tuple(_with(pair, other) for pair, other in pairs))


def _with(pair: RunComparison, other: RunComparison) -> RunComparison:
    metrics: dict[str, MetricComparison] = {
        name: dataclasses.replace(metric, condensed=other.metrics[name]) for name, metric in pair.metrics.items()
    }
    return dataclasses.replace(pair, metrics=metrics)
