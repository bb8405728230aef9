"""
Cumulative gain that is not normalized, and trec_eval's gain measures that are normalized in other ways than nDCG.

Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002. `G` and `binG` are Buckley's, in
trec_eval since 2008.
"""

from __future__ import annotations

import functools

import numpy as np

from rankgauge.metrics.family import USUAL, per_gold, retrieval, running_sum
from rankgauge.metrics.ndcg import Discount, Gain, discounted, divisor_of, gains_of, positive_gains
from rankgauge.plugin import Contributions, Cutoff, Judged, Scores

__all__ = ["binary_g", "cumulative_gain", "discounted_cumulative_gain", "g"]

_unnormalized = functools.partial(
    retrieval, uses_rel=False, range=(0.0, None), laws=(*USUAL, "monotone-in-k"), joins=("top_k",)
)


def _discounted_rows(
    judged: Judged, *, k: Cutoff | None, gain: Gain = "linear", discount: Discount = "log2"
) -> Contributions:
    rows = judged.by_gain().credits(k)
    return Contributions(rows, gains_of(rows, gain), 1.0 / divisor_of(rows.rank, discount))


@_unnormalized("retrieval-dcg-at-k", short=("dcg", "DCG"), contributions=_discounted_rows)
def discounted_cumulative_gain(
    judged: Judged, *, k: Cutoff | None, gain: Gain = "linear", discount: Discount = "log2"
) -> Scores:
    """
    Gains of the first *k* results, each divided by the discount of its rank; nDCG before it is normalized.

    Formula: ``DCG@k = sum over ranks i up to k of gain(i) / log2(i + 1)``. Source: Järvelin & Kekäläinen, TOIS 2002.

    When to use it: queries with more relevant material should weigh more, or the ideal order is not known.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each; None for all.

        gain: As in `ndcg`.

        discount: As in `ndcg`.

    Returns:
        Shape (n,), 0 or more unless gains below zero earn; NaN where no gold item has a gain.
    """
    judged = judged.by_gain()
    return np.where(judged.n_gold() > 0, discounted(judged, judged.credits(k), gain, discount), np.nan)


def _rows(judged: Judged, *, k: Cutoff | None, gain: Gain = "linear") -> Contributions:
    rows = judged.by_gain().credits(k)
    return Contributions(rows, gains_of(rows, gain))


@_unnormalized("retrieval-cg-at-k", short=("cg", "CG"), contributions=_rows)
def cumulative_gain(judged: Judged, *, k: Cutoff | None, gain: Gain = "linear") -> Scores:
    """
    Sum of the gains of the first *k* results, whatever their order.

    Formula: ``CG@k = sum over ranks i up to k of gain(i)``. Source: Järvelin & Kekäläinen, TOIS 2002.

    When to use it: everything within *k* is read, and grades differ.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each; None for all.

        gain: As in `ndcg`.

    Returns:
        Shape (n,), 0 or more unless gains below zero earn; NaN where no gold item has a gain.
    """
    judged = judged.by_gain()
    rows = judged.credits(k)
    return np.where(judged.n_gold() > 0, judged.sum(rows, gains_of(rows, gain)), np.nan)


@retrieval("retrieval-g", short=("G",), uses_rel=False, laws=("relevant-helps", "bounded", "padding", "tail"))
def g(judged: Judged, *, gains: str = "") -> Scores:
    """
    Gain whose discount grows with what an ideal ranking would have gained by then, and this one has not.

    Formula: ``G = sum over ranks i of g_i / log2(2 + C_i - S_i), divided by the sum of all gains``, where *S_i* is the
    gain up to rank i, and *C_i* that of the ideal order, in which every rank costs at least 1. Source: trec_eval,
    measure `G` (experimental there).

    When to use it: to compare with results of trec_eval that report it.

    Args:
        judged: The rankings of a batch of samples.

        gains: What grades are worth, as in `ndcg`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """
    judged = positive_gains(judged, gains)
    earned, ideal = judged.credits(), judged.ideal()
    best = judged.sum(ideal, ideal.grade)
    # The cost up to rank i: that of the ideal's first i items, and 1 for each rank below its end.
    surplus = judged.sum(ideal, np.maximum(ideal.grade, 1.0)) - judged.n_gold()
    cost = surplus[earned.sample] + earned.rank
    inside = np.flatnonzero(earned.rank <= judged.n_gold()[earned.sample])
    starts = np.searchsorted(ideal.sample, earned.sample[inside])
    cost[inside] = running_sum(ideal, np.maximum(ideal.grade, 1.0))[starts + earned.rank[inside] - 1]
    behind = np.maximum(cost - running_sum(earned, earned.grade), 0.0)
    return judged.sum(earned, earned.grade / np.log2(2.0 + behind)) / np.where(best > 0, best, np.nan)


@retrieval("retrieval-bin-g", short=("binG", "bin_g"), laws=USUAL)
def binary_g(judged: Judged) -> Scores:
    """
    Mean over the relevant items of one over the logarithm of how many irrelevant results stand above each.

    Formula: ``binG = 1/R * sum over relevant ranks of 1 / log2(2 + irrelevant results above)``. Source: trec_eval,
    measure `binG` (experimental there).

    When to use it: to compare with results of trec_eval that report it.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    earned = judged.credits()
    return per_gold(judged, judged.sum(earned, 1.0 / np.log2(2.0 + earned.rank - earned.nth())))
