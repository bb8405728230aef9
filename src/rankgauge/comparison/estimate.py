"""
The difference of one metric: how it is tested, its mean, interval and effect, and what limits these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, get_args

import numpy as np

from rankgauge.catalog import Catalog, Claim
from rankgauge.columns.judged_rows import Flags, Floats, Ints
from rankgauge.comparison.builtin_tests import BUILT_IN
from rankgauge.comparison.differences import Change, CohortDifference, MetricComparison, ShortLists
from rankgauge.comparison.pairing import PairedColumn, Pairing
from rankgauge.errors import ParameterError, UnknownNameError, counted, did_you_mean
from rankgauge.plugin.paired_test import PairedTest
from rankgauge.policy import IntervalChoice
from rankgauge.stats.effects import (
    detectable_by_signs,
    detectable_effect,
    effect_sizes,
    pairs_for_level,
    unseen_difference,
)
from rankgauge.stats.estimates import FEW_CLUSTERS, TIED, MeanEstimate, bootstrap_bca, effective_size, estimate_mean
from rankgauge.stats.intervals import MeanInterval, by_cluster, interval_of_mean

__all__ = [
    "LEAST_MOVED",
    "Method",
    "Tested",
    "check_short_lists",
    "compare_metric",
    "detectable_errors",
    "estimate_pairs",
    "moved_units",
    "settled",
]

_MOST_SEED = 1 << 128
LEAST_MOVED = 10
"""How many pairs have to differ at least before their spread says which difference so many would show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """
    How results are compared; 1 minus *confidence* is the level of the tests, *matters* what matters.

    *claim* is the test of a plugin, None for a built-in one.
    """

    test: str = "sign-flip"
    confidence: float = 0.95
    resamples: int = 100_000
    seed: int = 0
    interval: IntervalChoice = "standard"
    matters: float | Mapping[str, float] | None = None
    short_lists: ShortLists = "open"
    claim: Claim[PairedTest] | None = None

    @property
    def declared(self) -> PairedTest:
        """Return the declaration of the test."""
        return BUILT_IN[self.test] if self.claim is None else self.claim.declaration

    def with_test_of(self, catalog: Catalog) -> Method:
        """Return the method with the test that a catalog has under its name, unless that is built in."""
        if not isinstance(self.test, str) or self.test in BUILT_IN:
            return self
        try:
            claim = catalog.paired_test(self.test)
        except UnknownNameError as error:
            raise ParameterError(str(error)) from None
        name = claim.declaration.name
        return replace(self, test=name, claim=None if name in BUILT_IN else claim)

    def check(self) -> None:
        """Raise `ParameterError` for anything that cannot be used."""
        if self.claim is None and self.test not in BUILT_IN:
            hint = did_you_mean(str(self.test), BUILT_IN)
            raise ParameterError(f"unknown test {self.test!r}{hint}; there are {', '.join(BUILT_IN)}")
        if isinstance(self.confidence, bool) or not isinstance(self.confidence, int | float):
            raise ParameterError(f"confidence is a number such as 0.95, not {self.confidence!r}")
        if not 0 < self.confidence < 1:
            hint = f"; write {self.confidence / 100:g}" if 1 < self.confidence < 100 else ""
            raise ParameterError(f"confidence lies between 0 and 1, not at {self.confidence!r}{hint}")
        for name, value, least, below in (
            ("resamples", self.resamples, 1, ""),
            ("seed", self.seed, 0, " and below 2**128"),
        ):
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if not is_whole or value < least or (below and value >= _MOST_SEED):
                raise ParameterError(f"{name} is an integer of {least} or more{below}, not {value!r}")
        if self.interval not in get_args(IntervalChoice):
            raise ParameterError(f"interval is standard or exact, not {self.interval!r}")
        check_short_lists(self.short_lists)
        margins = self.matters.values() if isinstance(self.matters, Mapping) else [self.matters]
        for margin in margins:
            is_number = isinstance(margin, int | float) and not isinstance(margin, bool)
            if margin is not None and not (is_number and 0 < margin < math.inf):
                raise ParameterError(f"matters is a difference above 0, such as 0.02, not {margin!r}")


def check_short_lists(short_lists: object) -> None:
    """Raise `ParameterError` for what does not say what short lists do."""
    if short_lists not in get_args(ShortLists):
        raise ParameterError(f"short_lists is {' or '.join(get_args(ShortLists))}, not {short_lists!r}")


_LISTED = 5
_FEW_DIFFERENCES = 10


class Tested(NamedTuple):
    """
    What a test says of one metric; *level* is from which p on this metric is significant after correction.

    *matters* is the least difference that matters, if one was given; *failure* is why there is no p, if a test that
    a plugin has gives none.
    """

    p: float | None
    adjusted: float | None = None
    interval: tuple[float, float] | None = None
    level: float = 0.05
    matters: float | None = None
    failure: str = ""


def compare_metric(
    column: PairedColumn, pairing: Pairing, codes: Ints | None, method: Method, test: Tested
) -> MetricComparison:
    """Return the comparison of one metric; *codes* are the clusters of the samples."""
    info, confidence = column.info, method.confidence
    differences = settled(column.differences[column.is_pair])
    estimate = estimate_pairs(column, codes)
    better = differences if info.higher_is_better else -differences
    wins, losses = int(np.count_nonzero(better > 0)), int(np.count_nonzero(better < 0))
    interval, equivalence, dz, g, detectable = None, None, None, None, None
    if estimate is not None:
        interval = _interval(column, codes, confidence, method)
        interval = MeanInterval(*test.interval, "bca") if test.interval else interval
        equivalence = _equivalence(column, codes, method, test)
        dz, g = effect_sizes(estimate.mean, estimate.std, estimate.n)
        effect = detectable_errors(estimate.df, test.level, method)
        moved = moved_units(differences, None if codes is None else codes[column.is_pair])
        if effect and estimate.standard_error and moved >= LEAST_MOVED:
            detectable = effect * estimate.standard_error
    return MetricComparison(
        name=info.name,
        safe_name=info.safe_name,
        higher_is_better=info.higher_is_better,
        n=len(differences),
        baseline_mean=_mean(column, column.baseline),
        mean=_mean(column, column.values),
        difference=None if estimate is None else estimate.mean,
        interval=None if interval is None else (interval.low, interval.high),
        interval_method=None if interval is None else interval.method,
        matters=test.matters,
        equivalence=equivalence,
        list_ends=None if column.ends[0] is None or column.ends[1] is None else (column.ends[0], column.ends[1]),
        short_lists=method.short_lists,
        edits=column.edits,
        confidence=confidence,
        p=test.p,
        p_t=None if estimate is None else estimate.p,
        p_adjusted=test.adjusted,
        dz=dz,
        g=g,
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
        detectable=detectable,
        dropped=dict(column.dropped),
        notes=(
            *filter(None, [test.failure]),
            *_notes(column, estimate, codes, method),
            *_powerless(estimate, codes, method, test),
        ),
        worst=_changes(column, pairing.sample_ids, -1),
        best=_changes(column, pairing.sample_ids, 1),
        cohorts=tuple(_cohorts(column, pairing.tags, codes, method)),
    )


def detectable_errors(df: int, level: float, method: Method) -> float | None:
    """Return the smallest true difference, in standard errors, that is significant four times in five, if known."""
    if not level or method.claim is not None:  # the power of a plugin's test is unknown
        return None
    if method.test not in {"sign-flip", "wilcoxon"}:
        return detectable_effect(df, 1 - level)
    effect = detectable_by_signs(df + 1, level)
    if effect is None or method.test == "sign-flip":
        return effect
    return effect * math.sqrt(math.pi / 3)  # the efficiency of ranks is 3 / pi


def _powerless(estimate: MeanEstimate | None, codes: Ints | None, method: Method, test: Tested) -> Iterator[str]:
    """Yield that no difference can be significant, whatever its size, and what could change that."""
    if method.claim is not None or estimate is None or not estimate.std:
        return
    if detectable_errors(estimate.df, test.level, method) is not None:
        return
    units = counted(estimate.df + 1, "pair" if codes is None else "cluster")
    if not test.level:
        yield f"{method.resamples:,} resamples are too few for any p to be significant; use more"
    else:
        yield f"{units} cannot show any difference at this level; {pairs_for_level(test.level)} could"


def settled(differences: Floats) -> Floats:
    """Return differences with those that are ties as 0."""
    settled: Floats = np.where(np.abs(differences) <= TIED, 0.0, differences)
    return settled


def estimate_pairs(column: PairedColumn, codes: Ints | None, within: Flags | None = None) -> MeanEstimate | None:
    """Return the mean difference, over all pairs or some of them; None if there is no pair."""
    kept = column.is_pair if within is None else column.is_pair & within
    if not kept.any():
        return None
    own = None if codes is None else codes[kept]
    return estimate_mean(settled(column.differences[kept]), own, column.weights_of(kept))


def _mean(column: PairedColumn, values: Floats) -> float | None:
    paired = values[column.is_pair]
    return estimate_mean(paired, weights=column.weights_of(column.is_pair)).mean if len(paired) else None


def _interval(
    column: PairedColumn, codes: Ints | None, confidence: float, method: Method, within: Flags | None = None
) -> MeanInterval | None:
    """Return the interval over all pairs or some; if no pair differs, how far the mean could still be from 0."""
    kept = column.is_pair if within is None else column.is_pair & within
    differences, own = settled(column.differences[kept]), None if codes is None else codes[kept]
    weights = column.weights_of(kept)
    estimate, width, exact = estimate_mean(differences, own, weights), _width(column), method.interval == "exact"
    if not exact and not differences.any():
        bound = unseen_difference(_units(estimate, own, weights), width, confidence)
        return None if bound is None else MeanInterval(-bound, bound, "unseen")
    scale = (None, None) if width is None else (-width, width)
    return interval_of_mean(
        estimate,
        scale,
        binary=False,
        exact=exact,
        confidence=confidence,
        values=differences,
        clusters=own,
        weights=weights,
    )


def _units(estimate: MeanEstimate, codes: Ints | None, weights: Floats | None) -> int:
    """Return how many pairs or clusters there are; of such as weigh differently, how many equal ones they count for."""
    return estimate.df + 1 if weights is None else max(1, math.floor(effective_size(by_cluster(weights, codes)) + TIED))


def _equivalence(column: PairedColumn, codes: Ints | None, method: Method, test: Tested) -> tuple[float, float] | None:
    """
    Return the interval that shows equivalence if it lies within what matters, by two one-sided tests.

    Each has the level of the metric's test. It is the comparison's interval, but if fewer than ten pairs or
    clusters differ a betting interval: few and large differences make Student's too narrow on one side. None if
    it was not said what matters, and where there is no such interval.
    """
    if test.matters is None or not 0 < test.level < 0.5:
        return None
    differences, confidence = settled(column.differences[column.is_pair]), 1 - 2 * test.level
    if moved_units(differences, None if codes is None else codes[column.is_pair]) < _FEW_DIFFERENCES:
        if _width(column) is None:
            return None
        method = replace(method, interval="exact")
    elif method.test == "bootstrap-bca" and method.interval == "standard":
        settings: dict[str, Any] = {"resamples": method.resamples, "seed": method.seed}
        settings["weights"] = column.weights_of(column.is_pair)
        return bootstrap_bca(differences, confidence=confidence, **settings).interval
    interval = _interval(column, codes, confidence, method)
    return None if interval is None else (interval.low, interval.high)


def _width(column: PairedColumn) -> float | None:
    low, high = column.info.range
    return None if low is None or high is None else high - low


def _changes(column: PairedColumn, sample_ids: Sequence[str], sign: int) -> tuple[Change, ...]:
    """Return the samples with the biggest losses, if *sign* is -1, or gains; equal changes in order of their ids."""
    size = np.nan_to_num(column.differences) * (sign if column.info.higher_is_better else -sign)
    at_least = np.sort(size)[-_LISTED:].min(initial=np.inf)
    samples = np.flatnonzero((size > TIED) & (size >= at_least)).tolist()
    samples.sort(key=lambda sample: (-size[sample], sample_ids[sample]))
    numbers = column.baseline, column.values, column.differences
    return tuple(
        Change(sample_ids[sample], *(float(values[sample]) for values in numbers)) for sample in samples[:_LISTED]
    )


def _cohorts(
    column: PairedColumn, tags: Sequence[tuple[str, ...]], codes: Ints | None, method: Method
) -> Iterator[CohortDifference]:
    """Yield the difference by tag, in order, samples without a tag last; a sample with several counts in each."""
    if not any(tags):
        return
    samples: dict[str | None, list[int]] = {}
    for sample, tags_of_sample in enumerate(tags):
        for tag in tags_of_sample or (None,):
            samples.setdefault(tag, []).append(sample)
    for tag in sorted(samples, key=lambda tag: (tag is None, tag or "")):
        within = np.zeros(len(tags), dtype=np.bool_)
        within[samples[tag]] = True
        estimate = estimate_pairs(column, codes, within)
        if estimate is not None:
            interval = _interval(column, codes, method.confidence, method, within)
            ends = None if interval is None else (interval.low, interval.high)
            how = None if interval is None else interval.method
            yield CohortDifference(tag, estimate.n, estimate.mean, ends, how)


def _notes(column: PairedColumn, estimate: MeanEstimate | None, codes: Ints | None, method: Method) -> Iterator[str]:
    """Yield what limits the numbers of one metric, the most important first."""
    if estimate is None:
        yield "no sample has a score in both runs"
        return
    pairs, units = counted(estimate.n, "pair"), counted(estimate.df + 1, "pair" if codes is None else "cluster")
    if codes is not None and estimate.df + 1 < FEW_CLUSTERS:
        yield f"only {units}: below {FEW_CLUSTERS}, intervals tend to be too narrow"
    differences = settled(column.differences[column.is_pair])
    if not differences.any():
        own = None if codes is None else codes[column.is_pair]
        effective = _units(estimate, own, column.weights_of(column.is_pair))
        bound = unseen_difference(effective, _width(column), method.confidence)
        most = (
            f"; at {100 * method.confidence:g} % confidence the true difference is at most {bound or 0:.4f} either way"
        )
        yield f"none of {pairs} differs{'' if bound is None else most}"
    elif estimate.n == 1:
        yield "one pair says nothing about other samples"
    else:
        if estimate.std == 0:
            yield f"all {pairs} differ by the same amount, so there is no interval and no t test"
        elif not estimate.standard_error:
            why = "one cluster says nothing about others"
            why = why if estimate.df == 0 else "all clusters have the same mean difference"
            yield f"{why}, so there is no interval and no t test"
        if codes is None:
            yield from _noisy(column, estimate, method.confidence)
        moved = moved_units(differences, None if codes is None else codes[column.is_pair])
        if moved < _FEW_DIFFERENCES and method.test == "sign-flip":
            differ, least = "differs" if moved == 1 else "differ", min(1.0, 2.0 ** (1 - moved))
            yield f"only {moved} of {units} {differ}, so a sign-flip test cannot give p < {least:.4g} here"


def _noisy(column: PairedColumn, estimate: MeanEstimate, confidence: float) -> Iterator[str]:
    """Yield how much of the uncertainty comes from how the systems vary, and what more repeats could buy at best."""
    interval = estimate.interval(confidence)
    if column.noise is None or column.weights is not None or estimate.std is None or interval is None:
        return
    share = min(1.0, float(column.noise[column.is_pair].mean()) / estimate.std**2)
    half = (interval[1] - interval[0]) / 2
    yield (
        f"{share:.0%} of the variance of differences lies between repeats, the rest between samples: the interval of "
        f"+-{half:.4f} would shrink to +-{half * math.sqrt(1 - share / 2):.4f} with twice the repeats and to "
        f"+-{half / math.sqrt(2):.4f} with twice the samples"
    )


def moved_units(differences: Floats, codes: Ints | None) -> int:
    """Return how many pairs differ, or clusters: differences that cancel within one leave nothing to flip."""
    sums = differences if codes is None else np.bincount(codes, weights=differences)
    return int(np.count_nonzero(np.abs(sums) > TIED))
