"""
Drops: whether a mean got worse by more than a margin, as far as the samples can tell.

A sample of queries leaves a difference open within bounds. With a one-sided bound of the mean difference (Student's t),
a drop is within the margin if even its worst bound is, beyond it if even its best bound is, and open otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rankgauge.columns import Floats
from rankgauge.comparison.pairing import PairedColumn, pair_results
from rankgauge.errors import ResultError
from rankgauge.gates import MaxDrop
from rankgauge.result import MetricSummary, Result
from rankgauge.stats.effects import pairs_for_margin
from rankgauge.stats.estimates import TIED, estimate_mean

__all__ = ["Drop", "judge_drop", "pair_with_baseline"]

_FEW = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """
    How a mean changed against a baseline, over the samples that both have.

    Attributes:
        n: How many pairs of scores.

        baseline: The baseline's mean.

        value: The mean now.

        difference: The mean now minus the baseline's.

        margin: By how much it may be worse, in the unit of the metric.

        worst: The one-sided bound of the difference in the direction that is worse; None where there is no spread.

        best: The same in the direction that is better.

        needed: With how many samples the gate would be decided four times in five, if nothing changed in truth; None
            where no number would do.

        dropped: How many samples make no pair, by reason.

        note: What a reader should know of the bounds.
    """

    n: int
    baseline: float
    value: float
    difference: float
    margin: float
    worst: float | None = None
    best: float | None = None
    needed: int | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it in plain values, as reports hold it."""
        return {
            "n": self.n,
            "baseline_mean": self.baseline,
            "mean": self.value,
            "difference": self.difference,
            "margin": self.margin,
            "bounds": {"worst": self.worst, "best": self.best},
            "needed": self.needed,
            "dropped": {reason: count for reason, count in self.dropped.items() if count},
            "note": self.note,
        }


def pair_with_baseline(column: MetricSummary, result: Result, baseline: Result) -> PairedColumn:
    """Return a column's scores beside those of the baseline's column of the same meaning; raise `ResultError`."""
    same = [name for name, each in baseline.metrics.items() if each.info.fingerprint == column.info.fingerprint]
    name = column.name if column.name in same or not same else same[0]
    (pairs,) = pair_results(baseline, result, [name], names=("the baseline", "this run")).columns.values()
    if not pairs.is_pair.any():
        msg = "no sample has a score in both, the baseline and this run"
        raise ResultError(msg)
    return pairs


def judge_drop(
    rule: MaxDrop, pairs: PairedColumn, *, higher_is_better: bool
) -> tuple[Literal["pass", "fail", "inconclusive"], Drop]:
    """Judge the differences of at least one pair."""
    before, after = pairs.baseline[pairs.is_pair], pairs.values[pairs.is_pair]
    sign = 1.0 if higher_is_better else -1.0
    gains: Floats = sign * (after - before)
    estimate = estimate_mean(gains)
    baseline = estimate_mean(before).mean
    margin = rule.margin * abs(baseline) if rule.is_relative else rule.margin
    bounds = estimate.bounds(rule.confidence)
    facts: dict[str, Any] = {
        "n": estimate.n,
        "baseline": baseline,
        "value": estimate_mean(after).mean,
        "difference": sign * estimate.mean,
        "margin": margin,
        "dropped": pairs.dropped,
    }
    changed = int((abs(gains) > TIED).sum())
    if not changed:
        return "pass", Drop(**{**facts, "difference": 0.0}, note="no score changed")
    if bounds is None:  # there is no spread to bound the mean by
        if estimate.n == 1:
            return "inconclusive", Drop(**facts, note="one sample says nothing of others")
        drop = Drop(**facts, note="every sample changed by the same, so that the mean decides")
        return "pass" if estimate.mean >= -margin - TIED else "fail", drop
    low, high = bounds
    needed = pairs_for_margin(estimate.std or 0.0, margin, rule.confidence) if margin > 0 else None
    note = f"only {changed} of {estimate.n} scores changed, so that the bounds are rough" if changed < _FEW else ""
    drop = Drop(**facts, worst=sign * low, best=sign * high, needed=needed, note=note)
    return "pass" if low > -margin else "fail" if high < -margin else "inconclusive", drop
