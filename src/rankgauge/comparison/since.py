"""
Changes since a baseline: every mean that both have, and the samples that fell most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.comparison.drop import pair_with_baseline
from rankgauge.errors import ResultError
from rankgauge.result import Result
from rankgauge.stats.estimates import TIED, estimate_mean

__all__ = ["ColumnChange", "changes_since"]

_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChange:
    """
    How one column changed, over the samples that both results have.

    Attributes:
        column: The column's name.

        n: How many pairs of scores.

        baseline: The baseline's mean.

        value: The mean now.

        difference: The mean now minus the baseline's.

        interval: Student's 95 % interval of the difference; None where there is no spread.

        fallen: The samples that got worse by most, worst first, with both scores.
    """

    column: str
    n: int
    baseline: float
    value: float
    difference: float
    interval: tuple[float, float] | None
    fallen: tuple[tuple[str, float, float], ...]


def changes_since(result: Result, baseline: Result) -> tuple[ColumnChange, ...]:
    """Return the changes of all columns that can be compared; a column that means something else is left out."""
    found = []
    for column in result.metrics.values():
        try:
            pairs = pair_with_baseline(column, result, baseline)
        except ResultError:
            continue
        known = set(result.sample_ids)
        shared = np.array([name for name in baseline.sample_ids if name in known], dtype=object)[pairs.is_pair]
        before, after = pairs.baseline[pairs.is_pair], pairs.values[pairs.is_pair]
        gains = (after - before) if column.info.higher_is_better else (before - after)
        worst = [place for place in np.argsort(gains, kind="stable")[:_SHOWN].tolist() if gains[place] < -TIED]
        estimate = estimate_mean(after - before)
        change = ColumnChange(
            column=column.name,
            n=estimate.n,
            baseline=estimate_mean(before).mean,
            value=estimate_mean(after).mean,
            difference=estimate.mean,
            interval=estimate.interval(),
            fallen=tuple((str(shared[place]), float(before[place]), float(after[place])) for place in worst),
        )
        found.append(change)
    return tuple(found)
