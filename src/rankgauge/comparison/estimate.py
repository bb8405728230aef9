"""
The difference of one metric: its mean, interval, effect, the samples that changed, and what limits these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankgauge.columns.judged_rows import Flags, Floats, Ints
from rankgauge.comparison.differences import Change, CohortDifference, MetricComparison
from rankgauge.comparison.method import Method
from rankgauge.comparison.pairing import PairedColumn, Pairing
from rankgauge.errors import counted
from rankgauge.stats.effects import detectable_effect, effect_sizes, unseen_difference
from rankgauge.stats.estimates import TIED, MeanEstimate, estimate_mean

__all__ = ["compare_metric", "estimate_pairs", "settled"]

_LISTED = 5
_FEW_DIFFERENCES, _FEW_CLUSTERS = 10, 40


def compare_metric(
    column: PairedColumn,
    pairing: Pairing,
    codes: Ints | None,
    method: Method,
    p: tuple[float | None, float | None],
    own_interval: tuple[float, float] | None,
) -> MetricComparison:
    """
    Return the comparison of one metric.

    *p* is the p of the test and the corrected one, *codes* the cluster of each sample, and *own_interval* that of the
    test where it has one.
    """
    info, confidence = column.info, method.confidence
    differences = settled(column.differences[column.is_pair])
    estimate = estimate_pairs(column, codes)
    better = differences if info.higher_is_better else -differences
    wins, losses = int(np.count_nonzero(better > 0)), int(np.count_nonzero(better < 0))
    interval, dz, g, detectable = None, None, None, None
    if estimate is not None:
        interval = own_interval or _interval(estimate, column, confidence)
        dz, g = effect_sizes(estimate.mean, estimate.std, estimate.n)
        if estimate.standard_error and (effect := detectable_effect(estimate.df, confidence)) is not None:
            detectable = effect * estimate.standard_error
    worst, best = _changes(column, pairing.sample_ids)
    return MetricComparison(
        name=info.name,
        safe_name=info.safe_name,
        higher_is_better=info.higher_is_better,
        n=len(differences),
        baseline_mean=_mean(column.baseline[column.is_pair]),
        mean=_mean(column.values[column.is_pair]),
        difference=None if estimate is None else estimate.mean,
        interval=interval,
        confidence=confidence,
        p=p[0],
        p_t=None if estimate is None else estimate.p,
        p_adjusted=p[1],
        dz=dz,
        g=g,
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
        detectable=detectable,
        dropped=dict(column.dropped),
        notes=tuple(_notes(column, estimate, _Moved.of(column, codes), codes, method)),
        worst=worst,
        best=best,
        cohorts=tuple(_cohorts(column, pairing.tags, codes, confidence)),
    )


def settled(differences: Floats) -> Floats:
    """Return differences with those that are ties as 0."""
    settled: Floats = np.where(np.abs(differences) <= TIED, 0.0, differences)
    return settled


def _mean(values: Floats) -> float | None:
    return estimate_mean(values).mean if len(values) else None


def estimate_pairs(column: PairedColumn, codes: Ints | None, within: Flags | None = None) -> MeanEstimate | None:
    """Return the mean difference, over all pairs or some of them; None where there is no pair."""
    kept = column.is_pair if within is None else column.is_pair & within
    if not kept.any():
        return None
    return estimate_mean(settled(column.differences[kept]), None if codes is None else codes[kept])


def _interval(estimate: MeanEstimate, column: PairedColumn, confidence: float) -> tuple[float, float] | None:
    """Return Student's interval; where no pair differs, how far the mean could be from 0 all the same."""
    if estimate.std == 0 and estimate.mean == 0:
        bound = unseen_difference(estimate.df + 1, _width(column), confidence)
        return None if bound is None else (-bound, bound)
    return estimate.interval(confidence)


def _width(column: PairedColumn) -> float | None:
    low, high = column.info.range
    return None if low is None or high is None else high - low


def _changes(column: PairedColumn, sample_ids: Sequence[str]) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Return the samples that lost and won most; equal changes in order of their ids."""
    gains = np.nan_to_num(column.differences) * (1 if column.info.higher_is_better else -1)
    found: list[tuple[Change, ...]] = []
    for sign in (-1, 1):
        size = sign * gains
        at_least = np.sort(size)[-_LISTED:].min(initial=np.inf)
        places = np.flatnonzero((size > TIED) & (size >= at_least)).tolist()
        places.sort(key=lambda place: (-size[place], sample_ids[place]))  # used at once
        found.append(
            tuple(
                Change(
                    sample_ids[place],
                    float(column.baseline[place]),
                    float(column.values[place]),
                    float(column.differences[place]),
                )
                for place in places[:_LISTED]
            )
        )
    return found[0], found[1]


def _cohorts(
    column: PairedColumn, tags: Sequence[tuple[str, ...]], codes: Ints | None, confidence: float
) -> Iterator[CohortDifference]:
    """Yield the difference by tag, in order, samples without a tag last; a sample with several counts in each."""
    if not any(tags):
        return
    places: dict[str | None, list[int]] = {}
    for place, own in enumerate(tags):
        for tag in own or (None,):
            places.setdefault(tag, []).append(place)
    for tag in sorted(places, key=lambda tag: (tag is None, tag or "")):
        within = np.zeros(len(tags), dtype=np.bool_)
        within[places[tag]] = True
        estimate = estimate_pairs(column, codes, within)
        if estimate is not None:
            yield CohortDifference(tag, estimate.n, estimate.mean, _interval(estimate, column, confidence))


class _Moved(NamedTuple):
    """How many pairs differ, and how many units whose signs flip do: the pairs, or the clusters of pairs."""

    pairs: int
    units: int

    @classmethod
    def of(cls, column: PairedColumn, codes: Ints | None) -> _Moved:
        """Count them; differences that cancel within a cluster leave nothing to flip."""
        kept = settled(column.differences[column.is_pair])
        pairs = int(np.count_nonzero(kept))
        if codes is None:
            return cls(pairs, pairs)
        sums = np.bincount(codes[column.is_pair], weights=kept)
        return cls(pairs, int(np.count_nonzero(np.abs(sums) > TIED)))


def _notes(
    column: PairedColumn, estimate: MeanEstimate | None, moved: _Moved, codes: Ints | None, method: Method
) -> Iterator[str]:
    """Yield what limits the numbers of one metric."""
    percent = f"{100 * method.confidence:g} %"
    if estimate is None:
        yield "no sample has a score in both runs"
        return
    n = counted(estimate.n, "pair")
    if column.dropped["undefined_in_one"]:
        yield f"{counted(column.dropped['undefined_in_one'], 'sample')} left out, with a score in one run only"
    if codes is not None:
        count = estimate.df + 1
        if count < _FEW_CLUSTERS:
            yield f"only {counted(count, 'cluster')}: below {_FEW_CLUSTERS}, intervals tend to be too narrow"
    if not moved.pairs:
        bound = unseen_difference(estimate.df + 1, _width(column), method.confidence)
        said = (
            "" if bound is None else f"; at {percent} confidence the true difference is at most {bound:.4f} either way"
        )
        yield f"none of {n} differs{said}"
        return
    if estimate.n == 1:
        yield "one pair says nothing about other samples"
        return
    if estimate.std == 0:
        yield f"all {n} differ by the same amount, so there is no interval and no t test"
    elif not estimate.standard_error:
        why = (
            "one cluster says nothing about others"
            if estimate.df == 0
            else "all clusters have the same mean difference"
        )
        yield f"{why}, so there is no interval and no t test"
    if moved.units < _FEW_DIFFERENCES:
        of = n if codes is None else counted(estimate.df + 1, "cluster")
        how = "differs" if moved.units == 1 else "differ"
        least = min(1.0, 2.0 ** (1 - moved.units))
        yield f"only {moved.units} of {of} {how}: no test of signs can give a two-sided p below {least:.4g}"
