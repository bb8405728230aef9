"""
Drops: whether a mean got worse by more than a margin, what changed since a baseline, and whether the ids did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from rankgauge.columns import Floats, IdSketch
from rankgauge.comparison.pairing import PairedColumn, pair_results
from rankgauge.errors import ResultError
from rankgauge.gates.grammar import MaxDrop
from rankgauge.result import MetricSummary, Result
from rankgauge.stats.effects import pairs_for_margin
from rankgauge.stats.estimates import TIED, estimate_mean

__all__ = ["ColumnChange", "Drop", "baseline_of", "changes_since", "ids_changed", "judge_drop", "pair_with_baseline"]

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


def ids_changed(results: Mapping[str, Result], baseline: Mapping[str, Result]) -> dict[str, str]:
    """
    Return the results whose retrieved ids are not those of the baseline any more, with what to do about each.

    Two things have to be so: the baseline did not retrieve most of the ids, and less than half as many relevant ones
    are found as in the baseline. Another retriever meets the first alone, a retriever that got worse the second.
    """
    found = {}
    for name, result in results.items():
        earlier = baseline_of(name, baseline, results)
        told = None if earlier is None else _told(result, earlier)
        if told is not None:
            found[name] = told
    return found


def baseline_of(name: str, baseline: Mapping[str, Result], results: Mapping[str, Result]) -> Result | None:
    """
    Return the baseline of a dataset or run.

    It has the same name; or there is one baseline, and either one result or results over the same data, such as runs
    that were judged by the same judgments.
    """
    if name in baseline or len(baseline) != 1:
        return baseline.get(name)
    (only,) = baseline.values()
    data = [(each.manifest.get("dataset") or {}).get("fingerprint") for each in (only, results[name])]
    return only if len(results) == 1 or (data[0] and data[0] == data[1]) else None


def _told(result: Result, earlier: Result) -> str | None:
    own, before = (each.manifest.get("retrieved_ids") for each in (result, earlier))
    if own is None or before is None:
        return None
    now, then = IdSketch.from_dict(own), IdSketch.from_dict(before)
    new, found, once = now.new_share(then), now.found_share, then.found_share
    if new is None or found is None or once is None or not (new > 1 / 2 and found < once / 2):
        return None
    return (
        f"the ids changed, not the ranking: {new:.0%} of the retrieved ids are new since the baseline, and {found:.0%} "
        f"of the relevant ids are retrieved, where it was {once:.0%}. If documents were split or indexed anew, judge "
        "by text (gold passages or answers survive that) or judge the new ids, then save a new baseline. If the ids "
        "did not change, the system now retrieves entirely different documents"
    )
