"""
`MetricSummary`: one column of a result, its aggregates and its counts.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import FrozenMap, frozen, read_only
from rankgauge.catalog import Provider
from rankgauge.catalog.claims import plain_template, spellings
from rankgauge.errors import NotPicklableError
from rankgauge.expression import MetricExpression, parse
from rankgauge.judging import Budget, Target
from rankgauge.pickling import goes_by_name, reduced
from rankgauge.plugin.metric import WHOLE_RUN
from rankgauge.result.aggregation import Aggregated, aggregated, counted, whole_run
from rankgauge.scoring.collect import ScoredMetric
from rankgauge.scoring.score import FAILED, MISSING, SCORED, STATUSES, UNDEFINED
from rankgauge.stats import (
    MeanEstimate,
    estimate_mean,
    histogram,
    pass_rate,
    percentile,
    percentile_of_sorted,
    standard_deviation,
)

__all__ = ["MetricInfo", "MetricSummary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """
    What a column is, in plain values that a manifest can hold.

    Attributes:
        name: The column's name.

        safe_name: The same in letters, digits and ``_``.

        spellings: Everything that was written to ask for it.

        names: Every name of its metric.

        alias: The metric's alias.

        expression: The expanded expression.

        cut: The rule of its cutoff: `pinned`, `free`, `own` or `none`.

        k: Lowest and highest cutoff in use; None where there is none.

        k_sources: How many samples took their cutoff from where.

        judged: What was judged against what.

        matcher: The matcher as it prints; None for a join of ids, and for support that outputs gave.

        range: Lowest and highest possible value.

        higher_is_better: Whether more is better.

        aggregate: How samples become one number.

        version: The version that the metric declares.

        fingerprint: Equal for two scores that mean the same.

        provider: Distribution, version, plugin, file and line of the metric.

        matcher_providers: The same for the matcher and each of its parts.

        inferred: Parameters that were found in the data.

        params: Every parameter with its value, the defaults included.

        pins: The parameter that a number behind ``@`` gives; None where that is the cutoff.

        aggregate_provider: As `provider`, of an aggregate that a plugin offers; None for a built-in one.

        budget: Where the cutoff is a budget, its `amount`, `unit` (`tok` or `char`), `tokenizer` (None for characters)
            with its `provider`, and whether a `partial` result counts; else None.

        fitted: How many samples had so many ranks in the budget, by the number as text; None without one.
    """

    name: str
    safe_name: str
    spellings: tuple[str, ...]
    names: tuple[str, ...]
    alias: str
    expression: str
    cut: str
    k: tuple[int, int] | None
    k_sources: Mapping[str, int]
    judged: str
    matcher: str | None
    range: tuple[float | None, float | None]
    higher_is_better: bool
    aggregate: str
    version: str
    fingerprint: str
    provider: Mapping[str, Any]
    matcher_providers: Mapping[str, Mapping[str, Any]]
    inferred: Mapping[str, float]
    params: Mapping[str, Any]
    pins: str | None = None
    aggregate_provider: Mapping[str, Any] | None = None
    budget: Mapping[str, Any] | None = None
    fitted: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        for name in _MAPPINGS:  # made for every column of every result, and nearly all of them are frozen
            given = getattr(self, name)
            if given is not None and type(given) is not FrozenMap:
                object.__setattr__(self, name, frozen(given))  # the class is frozen

    @classmethod
    def of(cls, scored: ScoredMetric) -> MetricInfo:
        """Return what a scored column is."""
        planned = scored.planned
        matcher = planned.matchers.get(scored.target)
        return cls(
            name=planned.name,
            safe_name=planned.safe_name,
            spellings=planned.spellings,
            names=planned.metric.names,
            alias=planned.metric.alias,
            expression=str(planned.expression),
            cut=planned.cut.rule,
            k=scored.k,
            k_sources=FrozenMap(scored.k_sources.items()),
            judged=str(scored.target),
            matcher=None if matcher is None else str(matcher),
            range=planned.metric.range,
            higher_is_better=planned.metric.higher_is_better,
            aggregate=planned.metric.aggregate,
            version=planned.metric.version,
            fingerprint=planned.fingerprint,
            provider=_plain(planned.provider),
            matcher_providers=FrozenMap(
                () if matcher is None else ((name, _plain(by)) for name, by in matcher.providers)
            ),
            inferred=FrozenMap(scored.params),
            params=planned.settings,
            pins=planned.metric.cutoff.pins,
            aggregate_provider=None if planned.aggregate is None else dataclasses.asdict(planned.aggregate.provider),
            budget=None if planned.cut.budget is None else _plain_budget(planned.cut.budget),
            fitted=None if scored.fitted is None else {str(ranks): count for ranks, count in scored.fitted.items()},
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MetricInfo:
        """Return the info of a saved manifest."""
        values = dict(data)
        for name in ("spellings", "names", "range"):
            values[name] = tuple(values[name])
        values["k"] = None if values["k"] is None else tuple(values["k"])
        return cls(**values)

    @property
    def by_id(self) -> bool:
        """Return whether ids were joined, so that the scores depend on how items are called."""
        return self.judged == str(Target("relevant"))

    def within_range(self, interval: tuple[float, float] | None) -> tuple[float, float] | None:
        """Return an interval cut at the lowest and highest possible value."""
        if interval is None:
            return None
        low, high = self.range
        return max(interval[0], -math.inf if low is None else low), min(interval[1], math.inf if high is None else high)

    def answers_to(self, expression: MetricExpression) -> bool:
        """Return whether an expression, in any spelling, means this column; what it leaves out may be anything."""
        own = parse(self.expression)
        asked = dict(expression.params)
        if any(name not in self.params or self.params[name] != value for name, value in asked.items()):
            return False
        known = {plain_template(name).casefold() for name in self.names}
        for name, k in spellings(expression):
            if name.casefold() not in known:
                continue
            if self.pins is not None:
                return k is None or bool(self.params[self.pins] == k)
            if k is not None:
                return self.cut in {"pinned", "budget"} and (own.k, own.unit) == (k, expression.unit)
            drops = "-at-k" in self.alias and "-at-k" not in name
            return self.cut == "none" if drops else self.cut in {"free", "own"} or "-at-k" not in self.alias
        return False


_MAPPINGS = (
    "k_sources",
    "provider",
    "matcher_providers",
    "inferred",
    "params",
    "aggregate_provider",
    "budget",
    "fitted",
)


@functools.lru_cache(maxsize=1024)
def _plain(provider: Provider) -> Mapping[str, Any]:
    """Return a provider as a manifest holds it; made for every column of every result, so only once each."""
    return FrozenMap(dataclasses.asdict(provider))


def _plain_budget(budget: Budget) -> dict[str, Any]:
    by = budget.tokenizer
    return {
        "amount": budget.amount,
        "unit": budget.unit,
        "tokenizer": None if by is None else by.declaration.name,
        "partial": budget.partial,
        "provider": None if by is None else _plain(by.provider),
    }


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

        details: Facts behind each score, where they were asked for.

        aggregator: The function behind an aggregate of a plugin, or behind a metric of whole runs, where it is at hand;
            None for a built-in one.

        rankings: The ids that each sample retrieved, cut, for a metric of whole runs, which has no `values`; None for
            other metrics.
    """

    info: MetricInfo
    values: NDArray[np.float64]
    codes: NDArray[np.uint8]
    reasons: Mapping[int, str] = field(default_factory=FrozenMap)
    details: Sequence[Mapping[str, Any]] | None = None
    aggregator: Callable[..., Any] | None = field(default=None, repr=False)
    rankings: Sequence[tuple[str, ...]] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.values.setflags(write=False)
        self.codes.setflags(write=False)
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
        """Return the summary of a scored column; *info* says what it is, where that is known already."""
        outcome = scored.outcome
        declared = scored.planned.aggregate
        function = None if declared is None else declared.declaration.function
        summary = object.__new__(cls)  # by `__init__` a few queries in a loop would take a tenth longer
        fields: dict[str, Any] = {
            "info": info or MetricInfo.of(scored),
            "values": outcome.values,
            "codes": outcome.status,
            "reasons": FrozenMap(outcome.reasons) if outcome.reasons else _NO_REASONS,
            "details": None if scored.details is None else frozen(scored.details),
            "aggregator": function if outcome.rankings is None else scored.planned.metric.function,
            "rankings": outcome.rankings,
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

        For a metric of whole runs, its value.

        None for the mean of nothing, and where the aggregate of a plugin fails: see `failure`.
        """
        return self._aggregated.value

    @property
    def failure(self) -> str:
        """Return why there is no `mean`: what went wrong in a plugin's aggregate or metric; empty otherwise."""
        return self._aggregated.failure

    @cached_property
    def _aggregated(self) -> Aggregated:
        info = self.info
        if info.aggregate != WHOLE_RUN:
            return aggregated(self._counted, info.aggregate, self.aggregator, info.aggregate_provider)
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
        """Return the sample standard deviation (divided by n - 1) of the values that count; None for fewer than two."""
        known = None if self.estimate is None else self.estimate.std  # which is 0 also where values nearly are equal
        return known or standard_deviation(self._counted)

    @cached_property
    def estimate(self) -> MeanEstimate | None:
        """Return the mean with its standard error; None without a value, and for a metric that is no mean."""
        return estimate_mean(self._ordered) if len(self._ordered) and self.info.aggregate == "mean" else None

    @property
    def standard_error(self) -> float | None:
        """Return ``std / sqrt(n)``, the standard error of the mean; None for fewer than two values, or no mean."""
        return None if self.estimate is None else self.estimate.standard_error

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """
        Return Student's t interval of the mean over samples like these.

        Args:
            confidence: The probability that such an interval covers the true mean, above 0 and below 1.

        Returns:
            Lower and upper end, cut at the metric's range; None where all values are equal, since that says nothing of
            other samples, for fewer than two values, and for a metric that is no mean.
        """
        return self.info.within_range(None if self.estimate is None else self.estimate.interval(confidence))

    @property
    def k(self) -> int | tuple[int, int] | None:
        """Return the cutoff; lowest and highest when samples differ; None where there is none."""
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
        """Return the places of the *n* worst values, worst first: the lowest, or the *highest* where less is better."""
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
        )

    def __repr__(self) -> str:
        mean = "none" if self.mean is None else f"{self.mean:.4f}"
        return (
            f"<{self.name} mean={mean} n={self.n} undefined={self.n_undefined} missing={self.n_missing} "
            f"failed={self.n_failed}>"
        )

    def _count(self, code: int) -> int:
        return int(np.count_nonzero(self.codes == code))
