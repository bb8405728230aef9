"""
The whole order of what was judged: ordered pair accuracy, and the average position of relevant items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Flags, Floats, Ints
from rankgauge.metrics.family import retrieval, tied
from rankgauge.plugin import Contributions, Judged, Rows, Scores, metric

__all__ = ["average_relevance_position", "ordered_pair_accuracy"]

_UNRETRIEVED = np.iinfo(np.int64).max


def _pairs(judged: Judged) -> Scores:
    """Return how many pairs of gold items with different grades each sample has; shape (n,)."""
    kept = judged.gold.grade >= 0
    return _unlike(judged.gold.sample[kept], judged.gold.grade[kept], judged.n)


def _has_pairs(judged: Judged) -> Flags:
    return _pairs(judged) > 0


def _right(judged: Judged, low: Ints) -> Scores:
    """Return how many pairs of each sample are in the right order by the first rank of each row, half of a tie."""
    first = judged.first & (judged.rows.grade >= 0)
    gold = judged.gold.where(judged.gold.grade >= 0)
    at = np.full(len(judged.gold.sample), _UNRETRIEVED)
    at[judged.rows.gold[first]] = low[first]
    rank = at[gold.gold]
    order = np.lexsort((gold.grade, rank, gold.sample))  # of one rank the lowest grade first, so that no pair is right
    right = _descents(gold.sample[order], gold.grade[order], judged.n)
    if judged.low is None:
        return right
    found = gold.where(rank < _UNRETRIEVED)
    _, tie = np.unique(found.sample * (judged.depth.max(initial=0) + 1) + at[found.gold], return_inverse=True)
    owner = np.zeros(tie.max(initial=-1) + 1, dtype=np.int64)
    owner[tie] = found.sample
    return right + np.bincount(owner, weights=_unlike(tie, found.grade, len(owner)), minlength=judged.n) / 2


def _unlike(group: Ints, grades: Floats, n: int) -> Scores:
    """Return how many pairs of each group have different grades; shape (n,)."""
    sizes = np.bincount(group, minlength=n).astype(np.float64)
    level = _levels(grades)
    width = level.max(initial=0) + 1
    both, counts = np.unique(group * width + level, return_counts=True)
    alike = np.bincount(both // width, weights=counts * (counts - 1.0) / 2, minlength=n)
    unlike: Scores = sizes * (sizes - 1) / 2 - alike
    return unlike


def _levels(grades: Floats) -> NDArray[np.int64]:
    """Return grades as whole numbers in the same order, from 0."""
    return np.unique(grades, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _descents(sample: Ints, grades: Floats, n: int) -> Scores:
    """
    Return of how many pairs of each sample the first has the higher grade, for rows in order of sample, then rank.

    Grades become whole numbers, and are looked at bit by bit, the highest first: a pair that no higher bit separates
    is in the right order if the first has this bit and the second has not. Rows with the same higher bits stay in
    order, so that each bit takes one pass.
    """
    level, group = _levels(grades), sample.astype(np.int64)
    found = np.zeros(n)
    for bit in reversed(range(int(level.max(initial=0)).bit_length())):
        has = (level >> bit) & 1
        running = np.cumsum(has) - has
        above = running - running[np.searchsorted(group, group)]
        found += np.bincount(sample, weights=np.where(has, 0, above), minlength=n)
        order = np.lexsort((has, group))
        group, sample, level = group[order] * 2 + has[order], sample[order], level[order]
    return found


def _expected_pairs(judged: Judged) -> Scores:
    return _share(judged, _right(judged, judged.rows.rank if judged.low is None else judged.low))


def _share(judged: Judged, right: Scores) -> Scores:
    pairs = _pairs(judged)
    return np.where(pairs > 0, right / np.where(pairs > 0, pairs, 1.0), np.nan)


@metric(
    "retrieval-ordered-pair-accuracy",
    short=("OPA", "ordered_pair_accuracy"),
    uses_rel=False,
    defined=_has_pairs,
    undefined="the ground truth has no two items with different grades",
    laws=("bounded", "best-first", "padding", "tail", "duplicates"),
    expectation=_expected_pairs,
    denominators=_pairs,
)
def ordered_pair_accuracy(judged: Judged) -> Scores:
    """
    Fraction of the pairs of judged items with different grades in which the higher grade ranks above the lower.

    Formula: ``OPA = |pairs i, j with grade_i > grade_j and i ranked above j| / |pairs with grade_i > grade_j|``. Items
    that were not retrieved rank below all others, and no pair of two of them is in the right order; unjudged results
    and negative grades make no pair. Source: TensorFlow Ranking, `OPAMetric` (the mean there weighs each query by its
    number of pairs: ``aggregate=pooled``); rax, `opa_metric`.

    When to use it: the order of everything that was judged counts, the bottom as much as the top, as in training a
    ranker.

    Returns:
        Shape (n,), from 0 to 1; NaN if the ground truth has no two grades.
    """
    return _share(judged, _right(judged, judged.rows.rank))


def _expected_position(judged: Judged) -> Scores:
    ties = tied(judged.by_gain())
    return _mean_position(judged, ties.rows, (ties.low + ties.high) / 2)


def _weight(judged: Judged) -> Scores:
    earned = judged.by_gain().credits()
    return judged.sum(earned, _gains(earned))


def _positions(judged: Judged) -> Contributions:
    earned, worth = judged.by_gain().credits(), _weight(judged)
    ranks = earned.rank.astype(np.float64)
    return Contributions(earned, _gains(earned), ranks, np.where(worth > 0, worth, np.nan), "sum of gains")


def _gains(rows: Rows) -> Floats:
    return np.maximum(rows.grade, 0.0)  # also if a policy lets gains below 0 count


def _mean_position(judged: Judged, rows: Rows, ranks: Floats) -> Scores:
    worth = judged.sum(rows, _gains(rows))
    return judged.sum(rows, _gains(rows) * ranks) / np.where(worth > 0, worth, np.nan)


@retrieval(
    "retrieval-average-relevance-position",
    short=("ARP", "average_relevance_position"),
    range=(1.0, None),
    higher_is_better=False,
    laws=("bounded", "tail"),
    expectation=_expected_position,
    denominators=_weight,
    contributions=_positions,
)
def average_relevance_position(judged: Judged) -> Scores:
    """
    Mean rank of the relevant results, each weighted by its grade.

    Formula: ``ARP = sum of grade * rank / sum of grades`` over the relevant results of a sample; items that were not
    retrieved have no rank and no part, so read it beside recall: who retrieves less may come out better. Source:
    TensorFlow Ranking, `ARPMetric`, whose mean weighs each query by its sum of grades (``aggregate=pooled``); the
    average rank of relevant results in Joachims, Swaminathan & Schnabel, Unbiased learning-to-rank with biased
    feedback, WSDM 2017.

    When to use it: every ranking holds the same items, as where a ranker orders a given list, and readers go on to
    the last relevant one.

    Returns:
        Shape (n,), 1 or more; NaN if nothing relevant was retrieved.
    """
    judged = judged.by_gain()
    earned = judged.credits()
    return _mean_position(judged, earned, earned.rank.astype(np.float64))
