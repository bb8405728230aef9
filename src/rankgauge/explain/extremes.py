"""
Extremes: the lowest and the highest score of each sample over everything that unjudged results might turn out to be.

Every formula is exact: some way of judging the unjudged results reaches it, and none goes beyond it. Results are judged
by id, each at one rank. Three facts carry the proofs, all for a fixed number *m* of results that turn out relevant (or
get the highest gain): the denominator depends on *m* only; the sum above it is largest where these are the first *m*
unjudged ranks; and smallest where they are the last *m*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Flags, Floats, Ints, Judged, Scores
from rankgauge.metrics.ndcg import Discount, divisor_of

__all__ = ["EXTREMES", "IDEALS", "Extremes", "binary"]

IDEALS = ("gold-at-k", "gold")
"""The ideals of nDCG that unjudged results change by their grades alone, and not by where a ranking ends."""


class Extremes(NamedTuple):
    """The lowest and the highest score of each sample, shape (n,); NaN if nothing can give the sample one."""

    worst: Scores
    best: Scores


class _Ranks(NamedTuple):
    """A batch rank by rank, down to the cutoff."""

    open: Flags  # whether a rank holds an unjudged item; shape (n, width)
    grade: Floats  # the grade at each rank, minus infinity if there is none; shape (n, width)
    below: Ints  # how many unjudged items are below the cutoff; shape (n,)

    @property
    def width(self) -> int:
        """Return how many ranks there are."""
        width: int = self.open.shape[1]
        return width

    def relevant(self, judged: Judged) -> Flags:
        """Return which ranks hold an item that is relevant as it was judged."""
        return judged.relevance.of(self.grade) & (self.grade > -np.inf)


def _ranks(judged: Judged, k: int | None = None) -> _Ranks:
    """Lay a batch out; an item with a grade below 0 is unjudged, as in `retrieval-unjudged-at-k`."""
    known = judged.rows.where((judged.rows.grade >= 0) | judged.relevance.of(judged.rows.grade))
    n_open = judged.depth - np.bincount(known.sample, minlength=judged.n)
    deepest = int(judged.depth.max(initial=0))
    width = deepest if k is None else min(k, deepest)
    known = known.until(width)
    grade = np.full((judged.n, width), -np.inf)
    grade[known.sample, known.rank - 1] = known.grade
    unjudged = (np.arange(width) < judged.depth[:, None]) & (grade == -np.inf)
    return _Ranks(unjudged, grade, n_open - np.count_nonzero(unjudged, axis=1))


def _precision(judged: Judged, *, k: int) -> Extremes:
    hits, unjudged = judged.found(k), np.count_nonzero(_ranks(judged, k).open, axis=1)
    return Extremes(hits / k, (hits + unjudged) / k)


def _hit(judged: Judged, *, k: int) -> Extremes:
    worst, best = _precision(judged, k=k)
    return Extremes((worst > 0).astype(np.float64), (best > 0).astype(np.float64))


def _reciprocal_rank(judged: Judged, *, k: int | None = None) -> Extremes:
    ranks = _ranks(judged, k)
    relevant = ranks.relevant(judged)
    return Extremes(_first(relevant), _first(relevant | ranks.open))


def _first(flags: Flags) -> Scores:
    if not flags.shape[1]:
        return np.zeros(len(flags))
    return np.where(flags.any(axis=1), 1.0 / (np.argmax(flags, axis=1) + 1), 0.0)


def _recall(judged: Judged, *, k: int) -> Extremes:
    return _share(judged, k, 0)


def _f1(judged: Judged, *, k: int) -> Extremes:
    """Return the extremes of ``2 hits / (k + R)``, which is recall with *k* more below the line."""
    worst, best = _share(judged, k, k)
    return Extremes(2 * worst, 2 * best)


def _share(judged: Judged, k: int, more: int) -> Extremes:
    """Return hits over the number of relevant items and some *more*; each hit raises it, each miss lowers it."""
    ranks = _ranks(judged, k)
    hits, unjudged, wanted = judged.found(k), np.count_nonzero(ranks.open, axis=1), judged.n_gold() + more
    with np.errstate(invalid="ignore"):
        return Extremes(hits / (wanted + ranks.below), (hits + unjudged) / (wanted + unjudged))


def _r_precision(judged: Judged) -> Extremes:
    ranks = _ranks(judged)
    hits, unjudged = _running(ranks.relevant(judged)), _running(ranks.open)
    wanted = judged.n_gold()[:, None]
    # column x: the unjudged at ranks up to x are relevant; or those below x
    first = wanted + unjudged
    last = wanted + unjudged[:, -1:] - unjudged
    cuts = [np.minimum(cut, ranks.width) for cut in (first, last)]
    most = np.take_along_axis(hits, cuts[0], 1) + np.minimum(np.take_along_axis(unjudged, cuts[0], 1), unjudged)
    least = np.take_along_axis(hits, cuts[1], 1) + np.maximum(np.take_along_axis(unjudged, cuts[1], 1) - unjudged, 0)
    return Extremes(_least(least, last), _most(most, first))


def _average_precision(judged: Judged, *, k: int | None = None) -> Extremes:
    ranks = _ranks(judged, k)
    relevant = ranks.relevant(judged)
    either = relevant | ranks.open
    hits, unjudged, both = _running(relevant), _running(ranks.open), _running(either)
    rank = np.arange(1, ranks.width + 1)
    wanted = judged.n_gold()[:, None]
    # The precisions at some ranks, added up to x; those below x count what is above them, x included.
    sums, sums_judged = _running(either * both[:, 1:] / rank), _running(relevant * hits[:, 1:] / rank)
    steps, steps_judged = _running(either / rank), _running(relevant / rank)
    first = sums + (sums_judged[:, -1:] - sums_judged) + unjudged * (steps_judged[:, -1:] - steps_judged)
    last = sums_judged + (sums[:, -1:] - sums) - unjudged * (steps[:, -1:] - steps)
    rest = unjudged[:, -1:] - unjudged + ranks.below[:, None]
    return Extremes(_least(last, wanted + rest), _most(first, wanted + unjudged))


def _least(above: NDArray[Any], below: NDArray[Any]) -> Scores:
    """Return the lowest fraction of each row; what is divided by 0 is none."""
    least: Scores = np.divide(above, below, out=np.full(above.shape, np.inf), where=below > 0).min(axis=1)
    return np.where(np.isinf(least), np.nan, least)


def _most(above: NDArray[Any], below: NDArray[Any]) -> Scores:
    """Return the highest fraction of each row, likewise."""
    return -_least(-above, below)


def _running(values: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of the first 0, 1, 2, ... values of each row; shape (n, width + 1)."""
    return np.concatenate([np.zeros((len(values), 1), dtype=np.int64), np.cumsum(values, axis=1)], axis=1)


def _rank_biased_precision(judged: Judged, *, top: float, k: int | None = None, p: float = 0.9) -> Extremes:
    """
    Return the extremes of a sum of gains divided by the sample's highest grade.

    The best case has all unjudged results at that grade, because a higher one would take from every other result. The
    worst case has none above 0, or the last one at the top.
    """
    ranks = _ranks(judged.by_gain(), k)
    weight = (1.0 - p) * p ** np.arange(ranks.width)
    highest = np.ones(judged.n)
    np.maximum.at(highest, judged.gold.sample, judged.gold.grade)
    earned, unjudged = np.maximum(ranks.grade, 0.0) @ weight, ranks.open @ weight
    deepest = np.where(ranks.open, weight, 1.0).min(axis=1, initial=1.0)
    deepest = np.where(ranks.below > 0, 0.0, np.where(ranks.open.any(axis=1), deepest, np.inf))
    divided = np.where(top > highest, earned / max(top, 1.0) + deepest, np.inf)
    best = (earned + unjudged * np.minimum(highest, top)) / highest
    return Extremes(np.minimum(earned / highest, divided), np.minimum(best, 1.0))


def _expected_reciprocal_rank(judged: Judged, *, top: float, k: int, max_grade: float) -> Extremes:
    """Return what a cascade of readers makes of none and of all: those below lose less than a result gains."""
    ranks = _ranks(judged.by_gain(), k)
    every = np.where(ranks.open, top, ranks.grade)
    clipped = (np.clip(grade, 0.0, max_grade) for grade in (ranks.grade, every))
    return Extremes(*(_cascade((np.exp2(grade) - 1) / np.exp2(max_grade)) for grade in clipped))


def _cascade(satisfied: Floats) -> Scores:
    """Return the reciprocal rank at which a reader stops, in expectation; *satisfied* are probabilities."""
    going_on = np.cumprod(np.concatenate([np.ones((len(satisfied), 1)), 1 - satisfied], axis=1), axis=1)
    score: Scores = (satisfied * going_on[:, :-1] / np.arange(1, satisfied.shape[1] + 1)).sum(axis=1)
    return score


def _dcg(judged: Judged, *, top: float, k: int | None, gain: str = "linear", discount: Discount = "log2") -> Extremes:
    return _of_sum(judged, top, k, gain, _weights(_ranks(judged, k).width, discount))


def _cg(judged: Judged, *, top: float, k: int | None, gain: str = "linear") -> Extremes:
    return _of_sum(judged, top, k, gain, np.ones(_ranks(judged, k).width))


def _of_sum(judged: Judged, top: float, k: int | None, gain: str, weights: Floats) -> Extremes:
    """Return the extremes of a weighted sum of gains: nothing that is unjudged gains, or everything the most."""
    ranks = _ranks(judged.by_gain(), k)
    gains, most = (_gain(grades, gain) for grades in (np.maximum(ranks.grade, 0.0), np.array(top)))
    return Extremes(gains @ weights, (gains + ranks.open * most) @ weights)


def _ndcg(
    judged: Judged,
    *,
    top: float,
    k: int | None,
    gain: str = "linear",
    discount: Discount = "log2",
    ideal: str = "gold-at-k",
) -> Extremes:
    judged = judged.by_gain()
    rows, gold, most = (_gain(grades, gain) for grades in (judged.rows.grade, judged.gold.grade, np.array(top)))
    return _of_gains(judged.with_grades(rows, gold), float(most), k, discount, uncut=k is None or ideal == "gold")


def _ndcg_any(judged: Judged, *, k: int | None, discount: Discount = "log2", ideal: str = "gold-at-k") -> Extremes:
    return _of_gains(binary(judged), 1.0, k, discount, uncut=k is None or ideal == "gold")


def binary(judged: Judged) -> Judged:
    """Return the same columns with grade 1 for what is relevant; a grade below 0 stays, by which unjudged are known."""
    rows, gold = (
        np.where(judged.relevance.of(table.grade), 1.0, np.minimum(table.grade, 0.0))
        for table in (judged.rows, judged.gold)
    )
    return judged.with_grades(rows, gold)


def _gain(grades: Floats, gain: str) -> Floats:
    """Return the gains of grades; a grade below 0 keeps its sign, by which unjudged items are known."""
    if gain == "linear":
        return grades
    if gain == "binary":
        return np.where(grades < 0, grades, grades > 0)
    return np.where(grades < 0, grades, np.exp2(np.minimum(grades, _HIGHEST)) - 1)


def _weights(count: int, discount: Discount) -> Floats:
    """Return what a gain is multiplied by at each of the first ranks."""
    weights: Floats = 1.0 / divisor_of(np.arange(1, count + 1), discount)
    return weights


def _of_gains(judged: Judged, top: float, k: int | None, discount: Discount, *, uncut: bool) -> Extremes:
    """
    Return the extremes of DCG over its ideal.

    The gain of a result is a pile of layers, one between each two neighbours among the gains there are. DCG and ideal
    are sums over layers, and in each it only counts how many results reach it.

    The lowest fraction is where the last *m* unjudged results have the top gain and the others none: DCG is linear and
    the ideal convex in the gains, so that their fraction is lowest at a corner.

    The highest may need gains in between. It is found by Dinkelbach's method: the fraction reaches t where DCG less t
    times the ideal reaches 0, and that difference is largest layer by layer, at the first m unjudged results for some
    m. With the fraction found there for the next t, this ends at the highest one after a few steps.
    """
    ranks = _ranks(judged, k)
    deepest = ranks.width + int(ranks.below.max(initial=0)) + int(np.bincount(judged.gold.sample).max(initial=0)) + 1
    weight = _weights(deepest, discount)
    limit = deepest if uncut or k is None else k
    ideal = np.concatenate([[0.0], np.cumsum(np.where(np.arange(deepest) < limit, weight, 0.0))])
    levels = np.unique(np.append(judged.gold.grade[judged.gold.grade > 0], top))
    levels = levels[levels <= top]
    heights = np.diff(levels, prepend=0.0)
    better = [np.bincount(judged.gold.sample[judged.gold.grade >= level], minlength=judged.n) for level in levels]
    earned = (np.maximum(ranks.grade, 0.0) @ weight[: ranks.width])[:, None]
    unjudged, gained = _running(ranks.open), _running(ranks.open * weight[: ranks.width])

    rest = unjudged[:, -1:] - unjudged + ranks.below[:, None]
    below = np.zeros(rest.shape)
    for height, n_gold in zip(heights, better, strict=True):
        below += height * ideal[n_gold[:, None] + rest]
    lowest = _least(earned + top * (gained[:, -1:] - gained), below)

    highest = np.full(judged.n, np.nan)
    for _ in range(_MOST_STEPS):
        t = np.nan_to_num(highest)[:, None]
        above, below = earned[:, 0].copy(), np.zeros(judged.n)
        for height, n_gold in zip(heights, better, strict=True):
            costs = ideal[n_gold[:, None] + unjudged]
            m = np.argmax(gained - t * costs, axis=1)[:, None]
            above += height * np.take_along_axis(gained, m, 1)[:, 0]
            below += height * np.take_along_axis(costs, m, 1)[:, 0]
        fraction = np.divide(above, below, out=np.full(judged.n, np.nan), where=below > 0)
        highest = np.fmax(highest, fraction)
        if not (fraction > t[:, 0] + _LAST_BITS).any():
            break
    return Extremes(lowest, np.minimum(highest, 1.0))


_MOST_STEPS = 100
"""Dinkelbach's method takes fewer than ten; this only keeps rounding from going on for ever."""

_LAST_BITS = 1e-15

_HIGHEST = 1000.0
"""Exponential gains of higher grades do not fit a float; the metric refuses them before."""

EXTREMES: Mapping[str, Callable[..., Extremes]] = MappingProxyType(
    {
        "retrieval-precision-at-k": _precision,
        "retrieval-hit-at-k": _hit,
        "retrieval-mrr": _reciprocal_rank,
        "retrieval-recall-at-k": _recall,
        "retrieval-f1-at-k": _f1,
        "retrieval-r-precision": _r_precision,
        "retrieval-map": _average_precision,
        "retrieval-gm-map": _average_precision,
        "retrieval-rbp": _rank_biased_precision,
        "retrieval-err-at-k": _expected_reciprocal_rank,
        "retrieval-dcg-at-k": _dcg,
        "retrieval-cg-at-k": _cg,
        "retrieval-ndcg-at-k": _ndcg,
        "retrieval-ndcg-any-at-k": _ndcg_any,
    }
)
"""The extremes of a metric, by its alias; each names what it needs of *k*, *top* and the metric's parameters."""
