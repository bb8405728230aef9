"""
`MetricSummary`: one column of a result, its aggregates and its counts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import FrozenMap, frozen, read_only
from rankgauge.errors import NotPicklableError
from rankgauge.pickling import goes_by_name, reduced
from rankgauge.plugin.metric import POOLED, WHOLE_RUN
from rankgauge.result.aggregation import Aggregated, aggregated, counted, whole_run
from rankgauge.result.column_info import MetricInfo
from rankgauge.scoring.flaws import Tried
from rankgauge.scoring.score import FAILED, MISSING, SCORED, STATUSES, UNDEFINED
from rankgauge.scoring.scored import ScoredMetric
from rankgauge.stats import (
    MeanEstimate,
    MeanInterval,
    estimate_mean,
    histogram,
    interval_of_mean,
    is_binary,
    pass_rate,
    percentile,
    percentile_of_sorted,
    standard_deviation,
    weighted_mean,
)

__all__ = ["MetricSummary"]

_USUAL = 0.95
_NO_REASONS: FrozenMap[int, str] = FrozenMap()


@dataclass(frozen=True, eq=False)
class MetricSummary:
    """
    One metric over all samples. Its arrays and mappings are read-only.

    Attributes:
        info: What the column is.

        values: What counts in aggregates, NaN for a sample that does not count; shape (samples,).

        codes: The status of each sample, an index into `STATUSES`; shape (samples,).

        reasons: Why a sample that is not `scored` has no score, by its place.

        details: Facts behind each score, if they were asked for.

        aggregator: The function behind an aggregate of a plugin, or behind a metric of whole runs, if it is at hand;
            None for a built-in one.

        rankings: The ids that each sample retrieved, cut, for a metric of whole runs, which has no `values`; None for
            other metrics.

        repeats: The score of each call, NaN if it does not count, for a system that was called repeatedly for each
            sample, whose `values` are the means over them; shape (samples, repeats). None otherwise.

        clusters: Which samples are not independent, as a number that they share; shape (samples,). None if all are.

        weights: How much each sample counts in the mean, 0 or more; shape (samples,). None if all count the same.

        denominators: What the score of each sample is a share of, for a pooled mean; shape (samples,). None for others.
    """

    info: MetricInfo
    values: NDArray[np.float64]
    codes: NDArray[np.uint8]
    reasons: Mapping[int, str] = field(default_factory=FrozenMap)
    details: Sequence[Mapping[str, Any]] | None = None
    aggregator: Callable[..., Any] | None = field(default=None, repr=False)
    rankings: Sequence[tuple[str, ...]] | None = field(default=None, repr=False)
    repeats: NDArray[np.float64] | None = field(default=None, repr=False)
    clusters: NDArray[np.int64] | None = field(default=None, repr=False)
    weights: NDArray[np.float64] | None = field(default=None, repr=False)
    denominators: NDArray[np.float64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for array in (self.values, self.codes, self.repeats, self.clusters, self.weights, self.denominators):
            if array is not None:
                array.setflags(write=False)
        vars(self).update(
            reasons=FrozenMap(self.reasons),
            details=None if self.details is None else frozen(self.details),
            rankings=None if self.rankings is None else tuple(self.rankings),
        )

    def __reduce__(self) -> tuple[Callable[..., MetricSummary], tuple[type, dict[str, Any]]]:
        restore, (kind, fields) = reduced(self)
        if self.aggregator is not None:  # the receiver looks up one that cannot be sent
            with contextlib.suppress(NotPicklableError):
                goes_by_name(self.aggregator, "the aggregate")
                return restore, (kind, fields)
        return restore, (kind, {**fields, "aggregator": None})

    @classmethod
    def of(cls, scored: ScoredMetric, info: MetricInfo | None = None) -> MetricSummary:
        """Return the summary of a scored column; *info* says what it is, if that is known already."""
        outcome = scored.outcome
        declared = scored.planned.aggregate
        function = None if declared is None else declared.declaration.function
        denominators = outcome.denominators
        if denominators is None and scored.planned.metric.aggregate == POOLED:  # of no samples
            denominators = np.zeros(len(outcome.values))
        summary = object.__new__(cls)  # by `__init__` a few queries in a loop would take a tenth longer
        fields: dict[str, Any] = {
            "info": info or MetricInfo.of(scored),
            "values": outcome.values,
            "codes": outcome.status,
            "reasons": FrozenMap(outcome.reasons) if outcome.reasons else _NO_REASONS,
            "details": None if scored.details is None else frozen(scored.details),
            "aggregator": function if outcome.rankings is None else scored.planned.metric.function,
            "rankings": outcome.rankings,
            "repeats": None if outcome.repeats is None else read_only(outcome.repeats),
            "clusters": None,
            "weights": None,
            "denominators": denominators,
        }
        vars(summary).update(fields)
        return summary

    @property
    def name(self) -> str:
        """Return the column's name."""
        return self.info.name

    @property
    def counted(self) -> list[float]:
        """Return the values that count in aggregates, in order of the samples; made anew each time."""
        found: list[float] = np.asarray(self._counted, dtype=np.float64).tolist()
        return found

    @property
    def _counted(self) -> Sequence[float] | NDArray[np.float64]:
        return counted(self.values)

    @property
    def mean(self) -> float | None:
        """
        Return the aggregate over the values that count: their mean, unless the metric declares another.

        It is the weighted mean, ``sum(w x) / sum(w)``, if samples have `weights`; a pooled mean is that by the
        `denominators`, times the weights if there are some. For a metric of whole runs, its value.

        None for the mean of nothing, or of samples that all weigh 0, and where the aggregate of a plugin fails: see
        `failure`.
        """
        return self._aggregated.value

    @property
    def failure(self) -> str:
        """Return why there is no `mean`: what went wrong in a plugin's aggregate or metric; empty otherwise."""
        return self._aggregated.failure

    @property
    def broken(self) -> str:
        """Return why the metric scores nothing: its code failed for every sample that it could score; or empty."""
        return Tried.of(self.name, self.codes, self.reasons).reason if self.reasons else ""

    @cached_property
    def _aggregated(self) -> Aggregated:
        info = self.info
        if self.weights is not None or self.denominators is not None:
            counts = ~np.isnan(self.values)
            mean = weighted_mean(self.values[counts], cast("NDArray[np.float64]", self._shares)[counts])
            lacks = "all samples that count weigh 0" if self.denominators is None else "all that would be pooled is 0"
            return Aggregated(mean, lacks if mean is None and counts.any() else "")
        if info.aggregate != WHOLE_RUN:
            how, better = (info.aggregate, self.aggregator, info.aggregate_provider), info.higher_is_better
            return aggregated(self._counted, *how, higher_is_better=better)
        settings = {**info.params, "k": None if info.k is None else info.k[1]}
        return whole_run(self._counted_rankings, info.alias, self.aggregator, settings, info.provider)

    @property
    def n(self) -> int:
        """Return how many values count; for a metric of whole runs, how many rankings."""
        return len(self._ordered) if self.rankings is None else len(self._counted_rankings)

    @property
    def _counted_rankings(self) -> list[tuple[str, ...]]:
        kept = np.flatnonzero(self.codes == SCORED).tolist()
        return [] if self.rankings is None else [self.rankings[place] for place in kept]

    @property
    def n_undefined(self) -> int:
        """Return how many samples have no score because their ground truth allows none."""
        return self._count(UNDEFINED)

    @property
    def n_missing(self) -> int:
        """Return how many samples have no output."""
        return self._count(MISSING)

    @property
    def n_failed(self) -> int:
        """Return how many samples failed: a malformed output, a failing system or a failing plugin."""
        return self._count(FAILED)

    @property
    def counts(self) -> dict[str, int]:
        """Return how many values count, `n`, and how many samples are `undefined`, `missing` and `failed`."""
        return {"n": self.n, "undefined": self.n_undefined, "missing": self.n_missing, "failed": self.n_failed}

    @cached_property
    def std(self) -> float | None:
        """
        Return the sample standard deviation (divided by n - 1) of the values that count; None for fewer than two.

        With `weights` each squared deviation from the weighted mean counts ``w n / sum(w)`` times.
        """
        known = None if self.estimate is None else self.estimate.std  # which is 0 also if values nearly are equal
        return known if known or self._shares is not None else standard_deviation(self._counted)

    @cached_property
    def estimate(self) -> MeanEstimate | None:
        """Return the mean with its standard error; None without a value, and for a metric that is no mean."""
        is_mean = self.info.aggregate in {"mean", POOLED} and self.mean is not None
        return estimate_mean(*self._kept(self.clusters)) if is_mean else None

    def _kept(
        self, clusters: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64] | None, NDArray[np.float64] | None]:
        """Return the values that count, with their clusters and shares of the mean; without those that have none."""
        shares = self._shares
        if clusters is None and shares is None:
            return self._ordered, None, None
        counts = ~np.isnan(self.values)
        if shares is not None:
            counts &= shares > 0
        own = None if clusters is None else clusters[counts]
        return self.values[counts], own, None if shares is None else shares[counts]

    @cached_property
    def _shares(self) -> NDArray[np.float64] | None:
        """Return how much each sample counts in the mean, by its weight and denominator; None if all count the same."""
        if self.denominators is None or self.weights is None:
            return self.weights if self.denominators is None else self.denominators
        return self.weights * self.denominators

    @property
    def standard_error(self) -> float | None:
        """
        Return the standard error, ``std / sqrt(n)`` unless there are clusters or weights.

        None for fewer than two values, and for a metric that is no mean. Of a pooled mean it is the linearized error of
        a ratio of two sums.
        """
        return None if self.estimate is None else self.estimate.standard_error

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """
        Return the interval of the mean over samples like these; see `interval_found` for which one.

        Args:
            confidence: The probability that such an interval covers the true mean, above 0 and below 1.

        Returns:
            Lower and upper end, within the metric's range; None if `interval_found` is.
        """
        known = self.interval_found(confidence)
        return None if known is None else (known.low, known.high)

    def interval_found(self, confidence: float = 0.95, clusters: Sequence[object] | None = None) -> MeanInterval | None:
        """
        Return the interval of the mean over samples like these, and how it was found.

        Where every score is 0 or 1 it is Wilson's, and with the policy ``interval=exact`` Clopper and Pearson's.
        Otherwise it is Student's t, cut at the metric's range, and with ``interval=exact`` a betting interval, for a
        metric whose range has both ends; of another it stays Student's. Samples with `weights` have a betting interval
        in place of Clopper and Pearson's, which is of counts.

        Args:
            confidence: The probability that such an interval covers the true mean, above 0 and below 1.

            clusters: What samples share that are not independent, one for each sample; None for its own `clusters`.

        Returns:
            Lower and upper end, and the `method`: `wilson`, `clopper-pearson`, `betting` or `t`. None for a metric that
            is no mean, without values, where Student's does not exist (one value, or all equal and not 0 or 1), and
            where a betting interval would not hold, because values lie outside of the metric's range.

        Raises:
            ValueError: There are not as many clusters as samples.
        """
        if clusters is None:
            return self._usual_interval if confidence == _USUAL else self._interval(confidence, self.clusters)
        labels = [str(cluster) for cluster, _ in zip(clusters, self.values, strict=True)]
        return self._interval(confidence, np.unique(labels, return_inverse=True)[1])

    @cached_property
    def _usual_interval(self) -> MeanInterval | None:
        return self._interval(_USUAL, self.clusters)

    def _interval(self, confidence: float, clusters: NDArray[np.int64] | None) -> MeanInterval | None:
        if self.estimate is None:
            return None
        values, codes, weights = self._kept(clusters)
        return interval_of_mean(
            self.estimate if clusters is self.clusters else estimate_mean(values, codes, weights),
            self.info.range,
            binary=is_binary(values),
            exact=self.info.interval == "exact",
            confidence=confidence,
            values=values,
            clusters=codes,
            weights=weights,
        )

    @property
    def k(self) -> int | tuple[int, int] | None:
        """Return the cutoff; lowest and highest when samples differ; None if there is none."""
        if self.info.k is None or self.info.k[0] != self.info.k[1]:
            return self.info.k
        return self.info.k[0]

    @property
    def fitted(self) -> tuple[int, float, int] | None:
        """Return the lowest, median and highest number of ranks that fitted into the budget, over the whole run."""
        counts = sorted((int(ranks), count) for ranks, count in (self.info.fitted or {}).items())
        ranks = [float(number) for number, count in counts for _ in range(count)]
        return (int(ranks[0]), percentile(ranks, 50) or 0.0, int(ranks[-1])) if ranks else None

    def percentile(self, p: float) -> float | None:
        """Return a percentile of the values that count (0 to 100), interpolated linearly between closest ranks."""
        return percentile_of_sorted(self._ordered, p)

    def pass_rate(self, threshold: float = 0.5) -> float | None:
        """Return the share of the values that count which reach a threshold."""
        return pass_rate(self._ordered, threshold)

    def histogram(self) -> list[tuple[float, float, int]]:
        """Return ten buckets over the metric's range (or over the values): lower edge, upper edge, count."""
        if self.rankings is not None:
            return []
        low, high = self.info.range
        ends = self._ordered if len(self._ordered) else np.array([0.0, 1.0])
        low = float(ends[0]) if low is None else low
        high = float(ends[-1]) if high is None else high
        return histogram(self._ordered, low, high)

    @cached_property
    def _ordered(self) -> NDArray[np.float64]:
        """Return the values that count in aggregates, in ascending order."""
        return read_only(np.sort(self._counted))

    def worst(self, n: int, *, highest: bool | None = None) -> list[int]:
        """Return the places of the *n* worst values, worst first: the lowest, or the *highest* if less is better."""
        places = np.flatnonzero(~np.isnan(self.values))
        values = self.values[places]
        falls = not self.info.higher_is_better if highest is None else highest
        found: list[int] = places[np.argsort(-values if falls else values, kind="stable")[:n]].tolist()
        return found

    def status(self, place: int) -> str:
        """Return the status of one sample: `scored`, `undefined`, `missing` or `failed`."""
        return STATUSES[int(self.codes[place])]

    def take(self, places: Sequence[int] | NDArray[np.int64]) -> MetricSummary:
        """Return the same column over some of the samples."""
        kept = [int(place) for place in places]
        return MetricSummary(
            self.info,
            self.values[kept],
            self.codes[kept],
            {new: self.reasons[old] for new, old in enumerate(kept) if old in self.reasons},
            None if self.details is None else [self.details[place] for place in kept],
            self.aggregator,
            None if self.rankings is None else [self.rankings[place] for place in kept],
            None if self.repeats is None else self.repeats[kept],
            None if self.clusters is None else self.clusters[kept],
            None if self.weights is None else self.weights[kept],
            None if self.denominators is None else self.denominators[kept],
        )

    def repeat(self, number: int) -> MetricSummary:
        """Return one repeat of this column alone, counted from 1; the column itself if there are no repeats."""
        if self.repeats is None:
            return self
        values = self.repeats[:, number - 1].copy()
        return replace(self, values=values, repeats=None, details=None)

    def __repr__(self) -> str:
        mean = "none" if self.mean is None else f"{self.mean:.4f}"
        return (
            f"<{self.name} mean={mean} n={self.n} undefined={self.n_undefined} missing={self.n_missing} "
            f"failed={self.n_failed}>"
        )

    def _count(self, code: int) -> int:
        return int(np.count_nonzero(self.codes == code))
