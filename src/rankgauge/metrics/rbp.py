"""
Rank-biased precision, and its residual: how much higher it could be if everything unjudged were relevant.

Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008.
"""

from __future__ import annotations

import numpy as np

from rankgauge.metrics.family import USUAL, check_persistence, has_grades, last_rank, retrieval, tied
from rankgauge.plugin import Contributions, Cutoff, Judged, Rows, Scores, metric

__all__ = ["rank_biased_precision", "residual"]


def _expected(judged: Judged, *, k: Cutoff | None, p: float) -> Scores:
    judged = judged.by_gain()
    ties = tied(judged)
    share = (p ** (ties.low - 1.0) - p ** last_rank(ties, k).astype(np.float64)) / ties.size
    return np.where(judged.n_gold() > 0, judged.sum(ties.rows, _gains(judged, ties.rows) * share), np.nan)


def _contributions(judged: Judged, *, k: Cutoff | None, p: float) -> Contributions:
    judged = judged.by_gain()
    earned = judged.credits(k)
    weights, all_weights = np.asarray(p ** (earned.rank - 1.0)), np.full(judged.n, 1.0 / (1.0 - p))
    return Contributions(earned, _gains(judged, earned), weights, all_weights, "weight of all ranks")


@retrieval(
    "retrieval-rbp",
    short=("rbp", "RBP"),
    uses_rel="binary",
    check=check_persistence,
    laws=(*USUAL, "monotone-in-k"),
    undefined="the ground truth has no item with a gain",
    expectation=_expected,
    contributions=_contributions,
)
def rank_biased_precision(judged: Judged, *, k: Cutoff | None = None, p: float = 0.9) -> Scores:
    """
    Mean gain per result for a reader who goes on to the next result with probability *p*.

    Formula: ``RBP = (1 - p) * sum over ranks i of g_i * p**(i - 1)``, with grades for gains, divided by the highest
    grade of the sample's ground truth where that is above 1. With ``rel=1`` every relevant item has gain 1. Source:
    trec_eval 10, measure `rbp`; Moffat & Zobel, TOIS 2008; ``RBP(rel=1, p=0.8)`` is the measure of ir_measures, whose
    *p* is 0.8 unless given.

    When to use it: readers stop early, and the score should not depend on how many items are relevant in total.

    Args:
        p: The persistence, above 0 and below 1.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """
    judged = judged.by_gain()
    earned = judged.credits(k)
    score = (1.0 - p) * judged.sum(earned, _gains(judged, earned) * p ** (earned.rank - 1.0))
    if not judged.counts_repeats:
        score = np.minimum(score, 1.0)  # the sum of many weights may exceed 1 in the last bit
    return np.where(judged.n_gold() > 0, score, np.nan)


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

    Formula: ``p**n + (1 - p) * sum over unjudged ranks i of p**(i - 1)`` for *n* retrieved items, 0 where all of them
    were judged; an item without a grade, or with a negative one, is unjudged. Source: trec_eval 10, measure
    `rbp_resid`.

    When to use it: beside `retrieval-rbp`, as the width of the interval that holds the true score.

    Args:
        p: As in `rank_biased_precision`.

    Returns:
        Shape (n,), from 0 to 1; NaN where the ground truth is a plain list.
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
    """Return the grades of some rows, divided by the highest of their sample where that is above 1."""
    top = np.ones(judged.n)
    np.maximum.at(top, judged.gold.sample, judged.gold.grade)
    return np.maximum(rows.grade, 0.0) / top[rows.sample]
