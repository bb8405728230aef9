"""
Measures of a reader who stops: reciprocal rank, the first rank, expected reciprocal rank, rank-biased precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.metrics.family import USUAL, Tied, check_persistence, has_grades, last_rank, retrieval, tied, with_gold
from rankgauge.plugin import Contributions, Cutoff, Judged, Rows, Scores, metric

__all__ = ["expected_reciprocal_rank", "first_rank", "pfound", "rank_biased_precision", "reciprocal_rank", "residual"]


Wanted = Literal["relevant", "highest"]


def _details(judged: Judged, *, k: Cutoff | None, wanted: Wanted = "relevant") -> dict[str, list[Any]]:
    ranks = _wanted(judged, wanted).first_rank(k)
    return {"first_relevant_rank": [rank or None for rank in ranks.tolist()]}


def _wanted(judged: Judged, wanted: Wanted) -> Judged:
    """Return the batch, where only items of the highest grade of their sample are relevant if these are wanted."""
    if wanted == "relevant":
        return judged
    top = np.zeros(judged.n)
    np.maximum.at(top, judged.gold.sample, np.where(judged.relevance.of(judged.gold.grade), judged.gold.grade, 0.0))

    def is_top(rows: Rows) -> Scores:
        return np.where((rows.grade > 0) & (rows.grade == top[rows.sample]), 1.0, 0.0)

    return judged.with_grades(is_top(judged.rows), is_top(judged.gold))


def _expected(judged: Judged, *, k: Cutoff | None, wanted: Wanted = "relevant") -> Scores:
    """Return the expectation over how many irrelevant items of the first tie with relevant ones come first."""
    judged = _wanted(judged, wanted)
    ties = tied(judged)
    found = np.zeros(judged.n)
    for at in np.flatnonzero(ties.starts & (ties.before == 0)).tolist():
        sample, low, size, count = (int(of[at]) for of in (ties.rows.sample, ties.low, ties.size, ties.together))
        ahead = size - count if k is None else min(size - count, int(k if isinstance(k, int) else k[sample]) - low)
        if ahead < 0:
            continue
        steps = np.arange(ahead, dtype=np.float64)  # the probability that one more comes first, given those before
        chances = np.concatenate([[1.0], np.cumprod((size - count - steps) / (size - 1 - steps))]) * (count / size)
        found[sample] = np.sum(chances / (low + np.arange(ahead + 1)))
    return with_gold(judged, found)


def _first_hit(judged: Judged, *, k: Cutoff | None, wanted: Wanted = "relevant") -> Contributions:
    first = _wanted(judged, wanted).hits(k).first_of_each_sample()
    return Contributions(first, np.ones(len(first.rank)), 1.0 / first.rank)


@retrieval(
    "retrieval-mrr",
    short=("MRR", "RR", "recip_rank"),
    laws=(*USUAL, "perfect-is-one", "monotone-in-k", "whole-or-pieces"),
    details=_details,
    expectation=_expected,
    contributions=_first_hit,
)
def reciprocal_rank(judged: Judged, *, k: Cutoff | None = None, wanted: Wanted = "relevant") -> Scores:
    """
    One over the rank of the first relevant item; its mean over samples is MRR.

    Formula: ``RR = 1 / rank``, 0 if nothing relevant was retrieved (within *k*, if one is given).
    Source: trec_eval, measure `recip_rank`; Voorhees, The TREC-8 Question Answering Track Report, 1999.

    When to use it: the user wants one answer and reads from the top.

    Args:
        wanted: Which items end the search: those that are `relevant`, or only those of the `highest` grade of their
            query, as in allRank.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    judged = _wanted(judged, wanted)
    ranks = judged.first_rank(k)
    found = np.divide(1.0, ranks, out=np.zeros(judged.n), where=ranks > 0)
    return with_gold(judged, found)


@retrieval(
    "retrieval-first-rank",
    short=("first_rank", "rank_first_rel"),
    range=(1.0, None),
    higher_is_better=False,
    laws=("bounded", "tail"),
    details=_details,
)
def first_rank(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    Rank of the first relevant item, over the samples where one was found.

    Formula: ``min rank of a relevant item``. Its mean says how far readers have to look, and covers only the samples
    if they find anything; the number of those is printed beside it. Source: Voorhees, TREC-8 question answering
    track, 1999, of which `retrieval-mrr` is the bounded form.

    When to use it: beside `retrieval-mrr` and `retrieval-hit-at-k`, since a rank is easier to picture than its inverse.

    Returns:
        Shape (n,), 1 or more; NaN if no relevant item was found.
    """
    ranks = judged.first_rank(k).astype(np.float64)
    return np.where(ranks > 0, ranks, np.nan)


_HIGHEST = 1023
Labels = Literal["grades", "probabilities"]


def _contributions(
    judged: Judged, *, k: Cutoff, max_grade: float | None, check: bool, labels: Labels = "grades"
) -> Contributions:
    """Return the probability that a reader reaches each rank and is satisfied there, as a gain."""
    rows = judged.by_gain().credits(k)
    return Contributions(
        rows, _satisfied(judged.by_gain(), rows, max_grade, check=check, labels=labels), 1.0 / rows.rank
    )


def _expected_err(
    judged: Judged, *, k: Cutoff, max_grade: float | None, check: bool, labels: Labels = "grades"
) -> Scores:
    judged = judged.by_gain()
    ties = tied(judged)
    chances = _chances(judged, ties.rows, max_grade, check=check, labels=labels)
    return with_gold(judged, _expected_reading(judged, ties, chances, k, lambda ranks: 1.0 / ranks))


@retrieval(
    "retrieval-err-at-k",
    short=("err", "ERR"),
    uses_rel=False,
    needs_max_grade=True,
    laws=(*USUAL, "monotone-in-k"),
    undefined="the ground truth has no item with a gain",
    expectation=_expected_err,
    contributions=_contributions,
)
def expected_reciprocal_rank(
    judged: Judged, *, k: Cutoff, max_grade: float | None = None, check: bool = True, labels: Labels = "grades"
) -> Scores:
    """
    Reciprocal rank at which a reader going down the list is satisfied, in expectation.

    Formula: ``ERR@k = sum over ranks r of 1/r * R(g_r) * product over i < r of (1 - R(g_i))`` with
    ``R(g) = (2**g - 1) / 2**max_grade``, 0 for a grade below 0. Source: Chapelle et al., CIKM 2009.

    When to use it: judgments are graded and one very good result ends the search.

    Args:
        max_grade: The highest grade of the scale; the result says so if higher ones count as it. When absent, the
            highest grade of the whole data set is taken and the result says so; scores of one sample, and streams,
            need it given.

        check: Whether a grade above *max_grade* counts as that, and one below 0 satisfies no user; the classic library
            checks neither, and its scores may then be anything.

        labels: Whether gold gains are `grades`, or `probabilities` that a result satisfies, from 0 to 1, as CatBoost
            reads them; give ``max_grade=1`` with these.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    judged = judged.by_gain()
    rows = judged.credits(k)
    scores = judged.sum(rows, _satisfied(judged, rows, max_grade, check=check, labels=labels) / rows.rank)
    return with_gold(judged, scores)


def _satisfied(
    judged: Judged, rows: Rows, max_grade: float | None, *, check: bool, labels: Labels = "grades"
) -> Scores:
    """Return for each row the probability that a reader gets there and is satisfied there, shape (rows,)."""
    return _reached(judged, rows, _chances(judged, rows, max_grade, check=check, labels=labels))


def _chances(judged: Judged, rows: Rows, max_grade: float | None, *, check: bool, labels: Labels) -> Scores:
    """Return for each row the probability that it satisfies a reader who reads it."""
    top = float(judged.gold.grade.max(initial=0.0)) if max_grade is None else max_grade
    if top > _HIGHEST:
        raise ValueError(f"a highest grade of {top:g} is too large: 2 to that power does not fit a float")
    grades = np.clip(rows.grade, 0, top) if check else rows.grade
    chances: Scores = (np.exp2(grades) - 1) / np.exp2(top) if labels == "grades" else np.clip(rows.grade, 0.0, 1.0)
    return chances


def _reached(judged: Judged, rows: Rows, satisfied: Scores) -> Scores:
    """Return for each row the probability that a reader whom no row above satisfied is satisfied there."""
    place = rows.nth()
    going_on = np.ones(judged.n)
    reached = np.zeros(len(place))
    for nth in range(1, int(place.max(initial=0)) + 1):
        here = np.flatnonzero(place == nth)  # at most one row a sample, so plain indexing multiplies
        sample = rows.sample[here]
        reached[here] = going_on[sample] * satisfied[here]
        going_on[sample] *= 1 - satisfied[here]
    return reached


def _expected_reading(
    judged: Judged, ties: Tied, chances: Scores, k: Cutoff | None, weight: Callable[[NDArray[np.int64]], Scores]
) -> Scores:
    """
    Return what a reader finds who stops where a result satisfies, in expectation over the orders of ties.

    With A(t) the mean over all choices of t results of a tie of the product of their (1 - chance), a reader whom
    nothing before the tie satisfied is satisfied at its t-th place with probability A(t - 1) - A(t).
    """
    last = last_rank(ties, k)
    going_on, found = np.ones(judged.n), np.zeros(judged.n)
    for at in np.flatnonzero(ties.starts).tolist():
        sample, low = int(ties.rows.sample[at]), int(ties.low[at])
        passed_over = 1.0 - chances[at : at + int(ties.together[at])]
        means = _mean_products(passed_over, int(ties.size[at]), int(last[at]) - low + 1)
        stops = -np.diff(means) * weight(np.arange(low, low + len(means) - 1))
        found[sample] += going_on[sample] * float(stops.sum())
        going_on[sample] *= float(np.prod(passed_over))
    return found


def _mean_products(values: Scores, size: int, most: int) -> Scores:
    """Return the mean product of t of *size* numbers, for t from 0 to *most*; those beyond the *values* are 1."""
    # among the first i numbers, t of them hold the last one in t of i cases:
    # A(i, t) = (i - t) / i * A(i - 1, t) + t / i * value * A(i - 1, t - 1)
    means = np.zeros(max(most, 0) + 1)
    means[0] = 1.0
    for i, value in enumerate([*values.tolist(), *[1.0] * (size - len(values))], 1):
        t = np.arange(1, min(i, len(means) - 1) + 1)
        means[t] = (i - t) / i * means[t] + t / i * value * means[t - 1]
    return means


def _check_going_on(*, going_on: float) -> None:
    if not 0 < going_on <= 1:
        raise ValueError(f"going_on is the probability of reading the next result, above 0, at most 1, not {going_on}")


def _found_rows(judged: Judged, *, k: Cutoff | None, going_on: float) -> Contributions:
    rows = judged.by_gain().credits(k)
    reached = _reached(judged, rows, np.clip(rows.grade, 0.0, 1.0))
    return Contributions(rows, reached, np.asarray(going_on ** (rows.rank - 1.0), dtype=np.float64))


def _expected_pfound(judged: Judged, *, k: Cutoff | None, going_on: float) -> Scores:
    judged = judged.by_gain()
    ties = tied(judged)
    chances = np.clip(ties.rows.grade, 0.0, 1.0)

    def weight(ranks: NDArray[np.int64]) -> Scores:
        return np.asarray(going_on ** (ranks - 1.0), dtype=np.float64)

    found = np.asarray(_expected_reading(judged, ties, chances, k, weight))
    return with_gold(judged, np.minimum(found, 1.0))


@retrieval(
    "retrieval-pfound",
    short=("PFound",),
    uses_rel=False,
    check=_check_going_on,
    laws=(*USUAL, "monotone-in-k"),
    undefined="the ground truth has no item with a gain",
    expectation=_expected_pfound,
    contributions=_found_rows,
)
def pfound(judged: Judged, *, k: Cutoff | None = None, going_on: float = 0.85) -> Scores:
    """
    Probability that a reader finds what satisfies, where gains are the probabilities that results do.

    Formula: ``PFound = sum over ranks i of g_i * product over j < i of (1 - g_j) * going_on ** (i - 1)``, with a gain
    above 1 as 1. Source: Gulin, Karpovich, Raskovalov & Segalovich, Yandex at ROMIP'2009; CatBoost, `PFound`.

    When to use it: labels are probabilities, such as shares of clicks, and readers stop at the first good result.

    Args:
        going_on: The probability of reading the next result after one that did not satisfy.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    judged = judged.by_gain()
    rows = judged.credits(k)
    reached = _reached(judged, rows, np.clip(rows.grade, 0.0, 1.0))
    return with_gold(judged, np.minimum(judged.sum(rows, reached * going_on ** (rows.rank - 1.0)), 1.0))


def _expected_rbp(judged: Judged, *, k: Cutoff | None, p: float, normalize: bool = False) -> Scores:
    judged = judged.by_gain()
    ties = tied(judged)
    share = (p ** (ties.low - 1.0) - p ** last_rank(ties, k).astype(np.float64)) / ties.size
    score = judged.sum(ties.rows, _gains(judged, ties.rows) * share)
    return with_gold(judged, score / ((1.0 - p) * _most(judged, k, p)) if normalize else score)


def _rbp_contributions(judged: Judged, *, k: Cutoff | None, p: float, normalize: bool = False) -> Contributions:
    judged = judged.by_gain()
    earned = judged.credits(k)
    all_weights = _most(judged, k, p) if normalize else np.full(judged.n, 1.0 / (1.0 - p))
    of = "best order of as many results" if normalize else "weight of all ranks"
    return Contributions(earned, _gains(judged, earned), np.asarray(p ** (earned.rank - 1.0)), all_weights, of)


def _most(judged: Judged, k: Cutoff | None, p: float) -> Scores:
    """Return the weighted gain of the best order of the gold items, cut where the ranking ends; 1 for none."""
    shown = judged.depth if k is None else np.minimum(judged.depth, k)
    best = judged.ideal(None).until(shown)
    most = judged.sum(best, _gains(judged, best) * p ** (best.rank - 1.0))
    return np.where(most > 0, most, 1.0)


@retrieval(
    "retrieval-rbp",
    short=("rbp", "RBP"),
    uses_rel="binary",
    check=check_persistence,
    laws=(*USUAL, "monotone-in-k"),
    undefined="the ground truth has no item with a gain",
    expectation=_expected_rbp,
    contributions=_rbp_contributions,
)
def rank_biased_precision(
    judged: Judged, *, k: Cutoff | None = None, p: float = 0.9, normalize: bool = False
) -> Scores:
    """
    Mean gain per result for a reader who goes on to the next result with probability *p*.

    Formula: ``RBP = (1 - p) * sum over ranks i of g_i * p**(i - 1)``, with grades for gains, divided by the highest
    grade of the sample's ground truth where that is above 1. With ``rel=1`` every relevant item has gain 1. Source:
    trec_eval 10, measure `rbp`; Moffat & Zobel, TOIS 2008; ``RBP(rel=1, p=0.8)`` is the measure of ir_measures, whose
    *p* is 0.8 unless given.

    When to use it: readers stop early, and the score should not depend on how many items are relevant in total.

    Args:
        p: The persistence, above 0 and below 1.

        normalize: Whether to divide by the value of the best order of as many results as there are, within *k*, as
            LensKit does; a short ranking then loses nothing by its length.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    judged = judged.by_gain()
    earned = judged.credits(k)
    total = judged.sum(earned, _gains(judged, earned) * p ** (earned.rank - 1.0))
    score = total / _most(judged, k, p) if normalize else (1.0 - p) * total
    if not judged.counts_repeats:
        score = np.minimum(score, 1.0)  # the sum of many weights may exceed 1 in the last bit
    return with_gold(judged, score)


def _residual_expected(judged: Judged, *, p: float) -> Scores:
    known = judged.judged_ranks(at_least=0)
    ties = tied(judged, judged.first & (judged.rows.grade >= 0))
    weights = np.asarray((p ** (ties.low - 1.0) - p ** ties.high.astype(np.float64)) / ties.size, dtype=np.float64)
    weight = judged.sum(ties.rows, weights)
    return np.where(judged.graded, np.where(known == judged.depth, 0.0, 1.0 - weight), np.nan)


@metric(
    "retrieval-rbp-residual",
    short=("rbp_resid", "rbp_residual"),
    uses_rel=False,
    check=check_persistence,
    higher_is_better=False,
    describes=True,
    defined=has_grades,
    laws=("bounded",),
    undefined="the ground truth is a plain list, which judges only what it lists",
    expectation=_residual_expected,
)
def residual(judged: Judged, *, p: float = 0.9) -> Scores:
    """
    Weight that rank-biased precision gives to unjudged ranks, including those below the end of the ranking.

    Formula: ``p**n + (1 - p) * sum over unjudged ranks i of p**(i - 1)`` for *n* retrieved items, 0 if all of them
    were judged; an item without a grade, or with a negative one, is unjudged. Source: trec_eval 10, measure
    `rbp_resid`.

    When to use it: beside `retrieval-rbp`, as the width of the interval that holds the true score.

    Args:
        p: As in `rank_biased_precision`.

    Returns:
        Shape (n,), from 0 to 1; NaN if the ground truth is a plain list.
    """
    known = judged.rows.where(judged.rows.grade >= 0)
    place = np.ones(len(known.rank), dtype=np.bool_)
    place[1:] = (known.sample[1:] != known.sample[:-1]) | (known.rank[1:] != known.rank[:-1])
    known = known.where(place)
    # The weights of all ranks sum to 1, so the rest is the weight of ranks that are unjudged or below the end.
    left = np.maximum(1.0 - (1.0 - p) * judged.sum(known, np.asarray(p ** (known.rank - 1.0))), 0.0)
    is_whole = np.bincount(known.sample, minlength=judged.n) == judged.depth
    return np.where(judged.graded, np.where(is_whole, 0.0, left), np.nan)


def _gains(judged: Judged, rows: Rows) -> Scores:
    """Return the grades of some rows, divided by the highest of their sample if that is above 1."""
    top = np.ones(judged.n)
    np.maximum.at(top, judged.gold.sample, judged.gold.grade)
    return np.maximum(rows.grade, 0.0) / top[rows.sample]
