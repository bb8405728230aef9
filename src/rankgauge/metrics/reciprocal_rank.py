"""
How far down the first relevant item is: reciprocal rank, the rank itself, and expected reciprocal rank.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from rankgauge.metrics.family import USUAL, retrieval, tied
from rankgauge.plugin import Contributions, Cutoff, Judged, Law, Rows, Scores

__all__ = ["expected_reciprocal_rank", "first_rank", "reciprocal_rank"]


def _details(judged: Judged, *, k: Cutoff | None) -> dict[str, list[Any]]:
    return {"first_relevant_rank": [rank or None for rank in judged.first_rank(k).tolist()]}


def _expected(judged: Judged, *, k: Cutoff | None) -> Scores:
    """Return the expectation over how many irrelevant items of the first tie with relevant ones come first."""
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
    return np.where(judged.n_gold() > 0, found, np.nan)


def _first_hit(judged: Judged, *, k: Cutoff | None) -> Contributions:
    first = judged.hits(k).first_of_each_sample()
    return Contributions(first, np.ones(len(first.rank)), 1.0 / first.rank)


@retrieval(
    "retrieval-mrr",
    short=("MRR", "RR", "recip_rank"),
    laws=get_args(Law),  # every law
    details=_details,
    expectation=_expected,
    contributions=_first_hit,
)
def reciprocal_rank(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    One over the rank of the first relevant item; its mean over samples is MRR.

    Formula: ``RR = 1 / rank``, 0 where nothing relevant was retrieved (within *k*, if one is given).
    Source: trec_eval, measure `recip_rank`; Voorhees, The TREC-8 Question Answering Track Report, 1999.

    When to use it: the user wants one answer and reads from the top.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    ranks = judged.first_rank(k)
    found = np.divide(1.0, ranks, out=np.zeros(judged.n), where=ranks > 0)
    return np.where(judged.n_gold() > 0, found, np.nan)


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
    where they find anything; the number of those stands beside it. Source: Voorhees, TREC-8 question answering track,
    1999, of which `retrieval-mrr` is the bounded form.

    When to use it: beside `retrieval-mrr` and `retrieval-hit-at-k`, since a rank is easier to picture than its inverse.

    Returns:
        Shape (n,), 1 or more; NaN where no relevant item was found.
    """
    ranks = judged.first_rank(k).astype(np.float64)
    return np.where(ranks > 0, ranks, np.nan)


_HIGHEST = 1023


def _contributions(judged: Judged, *, k: Cutoff, max_grade: float | None, check: bool) -> Contributions:
    """Return the probability that a reader reaches each rank and is satisfied there, as a gain."""
    rows = judged.by_gain().credits(k)
    return Contributions(rows, _satisfied(judged.by_gain(), rows, max_grade, check=check), 1.0 / rows.rank)


@retrieval(
    "retrieval-err-at-k",
    short=("err", "ERR"),
    uses_rel=False,
    needs_max_grade=True,
    laws=(*USUAL, "monotone-in-k"),
    undefined="the ground truth has no item with a gain",
    contributions=_contributions,
)
def expected_reciprocal_rank(
    judged: Judged, *, k: Cutoff, max_grade: float | None = None, check: bool = True
) -> Scores:
    """
    Reciprocal rank at which a reader going down the list is satisfied, in expectation.

    Formula: ``ERR@k = sum over ranks r of 1/r * R(g_r) * product over i < r of (1 - R(g_i))`` with
    ``R(g) = (2**g - 1) / 2**max_grade``, 0 for a grade below 0. Source: Chapelle et al., CIKM 2009.

    When to use it: judgments are graded and one very good result ends the search.

    Args:
        max_grade: The highest grade of the scale. When absent, the highest grade of the whole data set is taken and
            the result says so; scores of one sample, and streams, need it given.

        check: Whether a grade above *max_grade* is an error, and one below 0 satisfies nobody; the classic library
            checks neither, and its scores may then be anything.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.

    Raises:
        ValueError: A grade is above *max_grade*, so it would not be a probability.
    """
    judged = judged.by_gain()
    rows = judged.credits(k)
    scores = judged.sum(rows, _satisfied(judged, rows, max_grade, check=check) / rows.rank)
    return np.where(judged.n_gold() > 0, scores, np.nan)


def _satisfied(judged: Judged, rows: Rows, max_grade: float | None, *, check: bool) -> Scores:
    """Return for each row the probability that a reader gets there and is satisfied there, shape (rows,)."""
    highest = float(judged.gold.grade.max(initial=0.0))
    top = highest if max_grade is None else max_grade
    if check and highest > top:
        raise ValueError(f"grade {highest:g} lies above max_grade={top:g}; give the highest grade of the scale")
    if top > _HIGHEST:
        raise ValueError(f"a highest grade of {top:g} is too large: 2 to that power does not fit a float")
    grades = np.maximum(rows.grade, 0) if check else rows.grade
    satisfied = (np.exp2(grades) - 1) / np.exp2(top)
    place = rows.nth()
    going_on = np.ones(judged.n)
    reached = np.zeros(len(place))
    for nth in range(1, int(place.max(initial=0)) + 1):
        here = np.flatnonzero(place == nth)  # at most one row a sample, so plain indexing multiplies
        sample = rows.sample[here]
        reached[here] = going_on[sample] * satisfied[here]
        going_on[sample] *= 1 - satisfied[here]
    return reached
