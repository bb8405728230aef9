"""
Average precision: precision at every relevant item, over all of the ground truth; and its geometric mean.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Floats, Ints
from rankgauge.metrics.family import USUAL, Tied, last_rank, per_gold, retrieval, tied, with_gold
from rankgauge.plugin import Contributions, Cutoff, Judged, Scores

__all__ = ["average_precision", "geometric_average_precision"]

Denominator = Literal["relevant", "at-most-k", "found", "k", "at-most-retrieved"]


def _details(judged: Judged, *, k: Cutoff | None) -> dict[str, list[Any]]:
    earned = judged.at_own_ranks(k)
    ranks: list[list[int]] = [[] for _ in range(judged.n)]
    for sample, rank in zip(earned.sample.tolist(), earned.rank.tolist(), strict=True):
        ranks[sample].append(rank)
    return {"relevant_count": judged.n_gold().tolist(), "relevant_at": ranks}


def _expected(judged: Judged, *, k: Cutoff | None = None, denominator: Denominator = "relevant") -> Scores:
    """
    Return the expectation over the orders of ties, as McSherry & Najork give it.

    At rank i of a tie of m results from rank s on, r of them relevant and a relevant before it, the expected precision
    of a relevant item is ``(a + 1 + (i - s) * (r - 1) / (m - 1)) / i``, and one is there with probability r/m. The
    sum over i is a difference of harmonic numbers.
    """
    ties = tied(judged)
    alone = ties.size == 1
    last = last_rank(ties, k)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, last.max(where=~alone, initial=0) + 1))])
    value = np.where(last < ties.low, 0.0, (ties.before + ties.place + 1) / ties.rows.rank)
    head = np.flatnonzero(ties.starts & ~alone)
    value[~alone] = 0.0
    value[head] = _of_tie(ties.low[head], ties.size[head], last[head], ties.together[head], ties.before[head], harmonic)
    if denominator == "found":
        return with_gold(judged, _over_found(judged, ties, value, last, harmonic))
    return _averaged(judged, judged.sum(ties.rows, value), k, denominator)


def _of_tie(low: Ints, size: Ints, last: Ints, count: Ints, before: Ints, harmonic: Floats) -> Floats:
    """Return the expected sum of the precisions of *count* relevant results in ties of some sizes, down to a rank."""
    slope = (count - 1) / np.maximum(size - 1, 1)
    inverse = harmonic[last] - harmonic[low - 1]
    sums: Floats = count / size * (slope * (last - low + 1) + (before + 1 - slope * low) * inverse)
    return sums


def _over_found(judged: Judged, ties: Tied, value: Scores, last: Ints, harmonic: Floats) -> Scores:
    """
    Return the expectation of the sum of precisions over how many relevant items are found within the cutoff.

    That number varies if the cutoff parts a tie, at most one of a sample. Of its r relevant results among m, j are
    within the first c with the probability ``C(r, j) C(m - r, c - j) / C(m, c)``, and each order of these is as likely.
    """
    is_whole = last == ties.high
    whole = ties.rows.where(is_whole)
    sums, found = judged.sum(whole, value[is_whole]), np.bincount(whole.sample, minlength=judged.n)
    scores = sums / np.maximum(found, 1)
    for row in np.flatnonzero(ties.starts & ~is_whole & (last >= ties.low)).tolist():
        sample, m, r = int(ties.rows.sample[row]), int(ties.size[row]), int(ties.together[row])
        c = int(last[row] - ties.low[row]) + 1
        j = np.arange(max(1, r - (m - c)), min(r, c) + 1)
        within = _of_tie(ties.low[row], np.full(len(j), c), last[row], j, ties.before[row], harmonic)
        ways = [math.comb(r, each) * math.comb(m - r, c - each) / math.comb(m, c) for each in j.tolist()]
        none = math.comb(m - r, c) / math.comb(m, c)
        scores[sample] = math.fsum([none * scores[sample], *(ways * (sums[sample] + within) / (found[sample] + j))])
    return scores


def _precisions(judged: Judged, *, k: Cutoff | None = None, denominator: Denominator = "relevant") -> Contributions:
    earned = judged.at_own_ranks(k)
    gains, parts = np.ones(len(earned.rank)), _parts(judged, k, denominator).astype(np.float64)
    of = {
        "relevant": "gold items",
        "at-most-k": "gold items, at most k",
        "found": "gold items found",
        "k": "ranks",
        "at-most-retrieved": "gold items, at most as many as results",
    }[denominator]
    return Contributions(earned, gains, earned.nth() / earned.rank, parts, of, judged.found_at(earned))


@retrieval(
    "retrieval-map",
    short=("MAP", "AP", "map_cut_{k}"),
    own_ranks=True,
    laws=(*USUAL, "monotone-in-k", "whole-or-pieces"),
    details=_details,
    joins=("relevant",),
    expectation=_expected,
    contributions=_precisions,
)
def average_precision(judged: Judged, *, k: Cutoff | None = None, denominator: Denominator = "relevant") -> Scores:
    """
    Mean of the precision at each relevant item; its mean over samples is MAP.

    Formula: ``AP = sum over relevant ranks i of (relevant up to i) / i, divided by |relevant|``. Items that were not
    found count as 0; the denominator is all of the ground truth, also under a cutoff. Source: trec_eval, measures `map`
    and `map_cut`. Tools for recommenders divide by something else: see *denominator*.

    When to use it: the whole order matters and judgments are binary.

    Args:
        denominator: What the sum is divided by: `relevant`, the relevant items of the ground truth, as trec_eval does;
            `at-most-k`, these or *k* if that is less, so that *k* relevant results score 1 (MAP@K of Kaggle and
            RecBole); `found`, the relevant items within *k*, so that what was missed costs nothing (torchmetrics); `k`
            itself, so that few relevant items keep scores low (RecTools' ``divide_by_k``; without a cutoff as
            `relevant`); `at-most-retrieved`, the relevant items or the results within *k* if these are fewer, so that a
            short ranking loses nothing by its length (LensKit).

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    earned = judged.at_own_ranks(k)
    return _averaged(judged, judged.sum(earned, earned.nth() / earned.rank), k, denominator)


def _averaged(judged: Judged, total: Scores, k: Cutoff | None, denominator: Denominator) -> Scores:
    """Divide the sums of precisions; a sample in which nothing was found scores 0."""
    if denominator == "relevant":
        return per_gold(judged, total)
    return with_gold(judged, total / np.maximum(_parts(judged, k, denominator), 1))


def _parts(judged: Judged, k: Cutoff | None, denominator: Denominator) -> NDArray[np.int64]:
    if denominator == "found":
        return np.bincount(judged.at_own_ranks(k).sample, minlength=judged.n)
    wanted = judged.n_gold()
    if denominator == "k" and k is not None:
        return np.broadcast_to(k, judged.n)
    if denominator == "at-most-retrieved":
        return np.minimum(wanted, judged.depth if k is None else np.minimum(judged.depth, k))
    most = judged.ideal_cutoff(k) if judged.own_ranks else k  # one result of a budget can hold all of the gold
    return wanted if most is None or denominator in {"relevant", "k"} else np.minimum(wanted, most)


@retrieval(
    "retrieval-gm-map",
    short=("gm_map", "GMAP"),
    laws=(*USUAL, "whole-or-pieces"),
    own_ranks=True,
    aggregate="geometric",
    joins=("relevant",),
    expectation=_expected,
    contributions=_precisions,
)
def geometric_average_precision(judged: Judged) -> Scores:
    """
    Average precision, averaged over samples by the geometric mean.

    Formula: ``exp(mean of ln(max(AP, 0.00001)))``; the score of one sample is its AP. Source: trec_eval, measure
    `gm_map`; Robertson, On GMAP: and other transformations, CIKM 2006.

    When to use it: a system should not fail on any query, so gains on hard queries count most.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return average_precision(judged)
