"""
Drops: whether a mean got worse by more than a margin, what changed since a baseline, and whether the ids did.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from rankgauge.base.frozen import freeze_fields
from rankgauge.columns import IdSketch
from rankgauge.columns.judged_rows import Floats, Ints
from rankgauge.comparison.gold_edits import NO_EDITS, GoldEdits
from rankgauge.comparison.pairing import Common, PairedColumn, pair_results
from rankgauge.errors import ResultError
from rankgauge.gates.grammar import MaxDrop
from rankgauge.result import MetricSummary, Result
from rankgauge.result.wording import ends_text
from rankgauge.stats.effects import pairs_for_margin
from rankgauge.stats.estimates import TIED, estimate_mean
from rankgauge.stats.intervals import betting_interval
from rankgauge.stats.paired_tests import flip_signs

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

        worst: The one-sided bound of the difference in the direction that is worse; None if there is no spread.

        best: The same in the direction that is better.

        needed: With how many samples the gate would be decided four times in five, if nothing changed in truth, or if
            the change is the observed one where that is beyond the margin; None if no number would do.

        p_fall: Of a gate that is open although the mean got worse, the one-sided p of the sign-flip test that it did;
            else None.

        short_lists: Where rankings ended before the budget, if that leaves the gate open; else empty.

        edits: The gold documents of the pairs whose text changed since the baseline, which leaves the gate open.

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
    p_fall: float | None = None
    short_lists: str = ""
    edits: GoldEdits = NO_EDITS
    dropped: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        freeze_fields(self)

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain values, as reports hold it."""
        return {
            "n": self.n,
            "baseline_mean": self.baseline,
            "mean": self.value,
            "difference": self.difference,
            "margin": self.margin,
            "bounds": {"worst": self.worst, "best": self.best},
            "needed": self.needed,
            "p_fall": self.p_fall,
            **({"short_lists": self.short_lists} if self.short_lists else {}),
            **({"changed_documents": self.edits.to_dict()} if self.edits else {}),
            "dropped": {reason: count for reason, count in self.dropped.items() if count},
            "note": self.note,
        }


def pair_with_baseline(
    column: MetricSummary, result: Result, baseline: Result, common: Common = "all"
) -> tuple[tuple[str, ...], PairedColumn]:
    """Return the samples that both have, and a column's scores beside the baseline's; raise `ResultError` for none."""
    same = [name for name, other in baseline.metrics.items() if other.info.fingerprint == column.info.fingerprint]
    name = column.name if column.name in same or not same else same[0]
    pairing = pair_results(baseline, result, [name], names=("the baseline", "this run"), common=common)
    (pairs,) = pairing.columns.values()
    if not pairs.is_pair.any():
        raise ResultError("no sample has a score in both, the baseline and this run")
    return pairing.sample_ids, pairs


def judge_drop(
    rule: MaxDrop, pairs: PairedColumn, *, higher_is_better: bool, clusters: Ints | None = None
) -> tuple[Literal["pass", "fail", "inconclusive"], Drop]:
    """Judge the differences of at least one pair, which may have *clusters*: the first rule that applies decides."""
    before, after = pairs.baseline[pairs.is_pair], pairs.values[pairs.is_pair]
    sign = 1.0 if higher_is_better else -1.0
    gains: Floats = sign * (after - before)
    paired = None if clusters is None else clusters[pairs.is_pair]
    weights = pairs.weights_of(pairs.is_pair)
    gain, baseline = estimate_mean(gains, paired, weights), estimate_mean(before, weights=weights).mean
    changed = int((abs(gains) > TIED).sum())
    drop = Drop(
        n=gain.n,
        baseline=baseline,
        value=estimate_mean(after, weights=weights).mean,
        difference=sign * gain.mean if changed else 0.0,
        margin=rule.margin * abs(baseline) if rule.is_relative else rule.margin,
        dropped=pairs.dropped,
        edits=pairs.edits if changed else NO_EDITS,
    )
    if rule.short_lists == "open" and changed and pairs.loser_is_short(drop.difference):
        drop = replace(drop, short_lists=_short_text(pairs))
    few = f"only {changed} of {gain.n} scores changed" if changed < _FEW else ""
    bounds = gain.bounds(rule.confidence)
    if not changed:
        return "pass", replace(drop, note="no score changed")
    if drop.edits:
        return "inconclusive", drop
    if not gain.df:
        one = "sample" if paired is None else "cluster"
        return "inconclusive", replace(drop, note=f"one {one} says nothing of others")
    if bounds is None:  # there is no spread to bound the mean by
        same = "every sample changed by the same"
        if drop.short_lists:
            p_fall = _p_of_fall(gains, paired, weights) if gain.mean < 0 else None
            return "inconclusive", replace(drop, note=same, p_fall=p_fall)
        verdict: Literal["pass", "fail"] = "pass" if gain.mean >= -drop.margin - TIED else "fail"
        return verdict, replace(drop, note=f"{same}, so that the mean decides")
    note = f"{few}, so that the bounds are rough" if few else ""
    lowest, highest = pairs.info.range
    if few and rule.word == "not_worse" and lowest is not None and highest is not None:
        bounds = _by_betting(gains, highest - lowest, rule.confidence, paired, weights)
        note = f"{few}, so that the bounds are those of bets"
    low, high = bounds
    beyond = -gain.mean - drop.margin
    apart = beyond if beyond > TIED else drop.margin
    spread = (gain.standard_error or 0.0) * math.sqrt(gain.n)  # without clusters, the standard deviation
    needed = pairs_for_margin(spread, apart, rule.confidence) if drop.margin > 0 else None
    drop = replace(drop, worst=sign * low, best=sign * high, needed=needed, note=note)
    if not drop.short_lists and (low > -drop.margin or high < -drop.margin):
        return "pass" if low > -drop.margin else "fail", drop
    return "inconclusive", replace(drop, p_fall=_p_of_fall(gains, paired, weights) if gain.mean < 0 else None)


def _short_text(pairs: PairedColumn) -> str:
    """Say where the rankings of both ended before the budget."""
    runs = zip(("the baseline", "this run"), pairs.ends, strict=True)
    return "; ".join(f"{run}: {ends_text(ends)}" for run, ends in runs if ends is not None and ends.ended)


def _p_of_fall(gains: Floats, clusters: Ints | None, weights: Floats | None) -> float:
    """Return the one-sided p of a mean below 0: half of the two-sided one, because signs are symmetric."""
    return float(flip_signs(gains[:, np.newaxis], clusters=clusters, weights=weights).p[0]) / 2


def _by_betting(
    gains: Floats, width: float, confidence: float, clusters: Ints | None, weights: Floats | None
) -> tuple[float, float]:
    """Return one-sided bounds that hold whatever few scores changed, of a metric whose range is so wide."""
    below, above = betting_interval((gains + width) / (2 * width), 2 * confidence - 1, clusters, weights)
    return 2 * width * below - width, 2 * width * above - width


def clusters_of_pairs(column: MetricSummary, result: Result, sample_ids: Sequence[str]) -> Ints | None:
    """Return the clusters of the samples that two results share; None if samples are independent."""
    if column.clusters is None:
        return None
    known = dict(zip(result.sample_ids, column.clusters.tolist(), strict=True))
    return np.array([known[sample_id] for sample_id in sample_ids], dtype=np.int64)


_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChange:
    """How one column changed, over the samples that both results have: means, and those that got worse by most."""

    column: str
    n: int  # pairs of scores
    baseline: float
    value: float
    difference: float  # the mean now minus the baseline's
    interval: tuple[float, float] | None  # Student's 95 % interval of the difference; None if there is no spread
    fallen: tuple[tuple[str, float, float], ...]  # worst first, with the score before and now


def changes_since(result: Result, baseline: Result, common: Common = "all") -> tuple[ColumnChange, ...]:
    """Return the changes of all columns that can be compared; a column that means something else is left out."""
    changes = []
    for column in result.metrics.values():
        with suppress(ResultError):
            sample_ids, pairs = pair_with_baseline(column, result, baseline, common)
            changes.append(_change(column.name, sample_ids, pairs, clusters_of_pairs(column, result, sample_ids)))
    return tuple(changes)


def _change(name: str, sample_ids: Sequence[str], pairs: PairedColumn, clusters: Ints | None) -> ColumnChange:
    samples = np.flatnonzero(pairs.is_pair)
    before, after = pairs.baseline[samples], pairs.values[samples]
    gains = after - before if pairs.info.higher_is_better else before - after
    worst = [pair for pair in np.argsort(gains, kind="stable")[:_SHOWN].tolist() if gains[pair] < -TIED]
    weights = pairs.weights_of(pairs.is_pair)
    estimate = estimate_mean(after - before, None if clusters is None else clusters[samples], weights)
    return ColumnChange(
        column=name,
        n=estimate.n,
        baseline=estimate_mean(before, weights=weights).mean,
        value=estimate_mean(after, weights=weights).mean,
        difference=estimate.mean,
        interval=estimate.interval(),
        fallen=tuple((sample_ids[samples[pair]], float(before[pair]), float(after[pair])) for pair in worst),
    )


_MOST = 0.5


def ids_changed(results: Mapping[str, Result], baseline: Mapping[str, Result]) -> dict[str, str]:
    """
    Return the results whose retrieved ids are not those of the baseline any more, with what to do about each.

    Two things have to be so: the baseline did not retrieve most of the ids, and less than half as many relevant ids
    are retrieved as in the baseline. Another retriever meets the first alone.
    """
    earlier = {name: baseline_of(name, baseline, results) for name in results}
    reasons = {name: _turnover(results[name], before) for name, before in earlier.items() if before is not None}
    return {name: reason for name, reason in reasons.items() if reason}


def baseline_of(name: str, baseline: Mapping[str, Result], results: Mapping[str, Result]) -> Result | None:
    """Return the baseline of the same name, or the only one if it is for one result or has the same data."""
    if name in baseline or len(baseline) != 1:
        return baseline.get(name)
    (only,) = baseline.values()
    then, now = ((result.manifest.get("dataset") or {}).get("fingerprint") for result in (only, results[name]))
    return only if len(results) == 1 or (now and then == now) else None


def _turnover(result: Result, earlier: Result) -> str:
    """Return why the ids are others now; empty if they are not, or that is not known."""
    sketches = [known.manifest.get("retrieved_ids") for known in (earlier, result)]
    then, now = (None if sketch is None else IdSketch.from_dict(sketch) for sketch in sketches)
    if then is None or now is None:
        return ""
    new, share, before = now.new_share(then), now.found_share, then.found_share
    if new is None or share is None or before is None or new <= _MOST or share >= before / 2:
        return ""
    return (
        f"the ids changed, not the ranking: {new:.0%} of the retrieved ids are new since the baseline, and {share:.0%} "
        f"of the relevant ids are retrieved, where it was {before:.0%}. If documents were split or indexed anew, judge "
        "by text (gold passages or answers survive that) or judge the new ids, then save a new baseline. If the ids "
        "did not change, the system now retrieves entirely different documents"
    )
