"""
A against A: a system that was run repeatedly, compared with itself as two systems would be.

No difference between two of its repeats is real, so that every verdict but `undecided` is a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Any

import numpy as np

from rankgauge.base.frozen import freeze_fields, plain_fields
from rankgauge.comparison.differences import Comparison, RunComparison
from rankgauge.comparison.estimate import Method
from rankgauge.errors import counted
from rankgauge.result import ResultValues

__all__ = ["FalseAlarms", "is_itself", "with_false_alarms"]

_MOST_PAIRS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseAlarms:
    """
    What comparing the repeats of one system with each other came to.

    Attributes:
        pairs: How many pairs of repeats were compared, each as two systems are.

        alarms: For how many of them some metric was `better` or `worse`.

        metrics: The same metric by metric.

        allowed: The share of alarms that the tests allow: 1 minus the confidence.
    """

    pairs: int
    alarms: int
    metrics: Mapping[str, int]
    allowed: float

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def rate(self) -> float:
        """Return the share of the pairs with an alarm."""
        return self.alarms / self.pairs

    @property
    def sentence(self) -> str:
        """Return it in words."""
        text = (
            f"A against A: of {counted(self.pairs, 'pair')} of repeats {self.alarms:,} would be called different, a "
            f"false-alarm rate of {self.rate:.1%} where the tests allow {self.allowed:.1%}"
        )
        if self.rate <= self.allowed or self.alarms < 2:
            return text
        return f"{text}; repeats of one run differ by more than chance, so single runs are not to be compared"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {**plain_fields(self), "rate": self.rate}


def is_itself(one: ResultValues, other: ResultValues) -> bool:
    """Return whether two results are the same calls of one system that was called repeatedly."""
    columns = list(zip(one.metrics.values(), other.metrics.values(), strict=False))
    if one.sample_ids != other.sample_ids or not columns:
        return False
    pairs = [(a.repeats, b.repeats) for a, b in columns if a.repeats is not None and b.repeats is not None]
    return len(pairs) == len(columns) and all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def with_false_alarms(
    pair: RunComparison, result: ResultValues, method: Method, compared: Callable[..., Comparison]
) -> RunComparison:
    """Return the comparison of a result with itself, with how often *compared* would call its repeats different."""
    most = max(column.repeats.shape[1] for column in result.metrics.values() if column.repeats is not None)
    alarms, by_metric, n = 0, dict.fromkeys(pair.metrics, 0), 0
    for first, second in islice(combinations(range(1, most + 1), 2), _MOST_PAIRS):
        single = {
            str(number): result.with_columns(column.repeat(number) for column in result.metrics.values())
            for number in (first, second)
        }
        verdicts = compared(single)[str(second)].metrics
        wrong = [name for name, metric in verdicts.items() if metric.verdict in {"better", "worse"}]
        for name in wrong:
            by_metric[name] += 1
        alarms, n = alarms + bool(wrong), n + 1
    found = FalseAlarms(pairs=n, alarms=alarms, metrics=by_metric, allowed=1 - method.confidence)
    return replace(pair, notes=(*pair.notes, found.sentence), false_alarms=found.to_dict())
