"""
Cumulative gain, and trec_eval's gain measures that normalize or average it in other ways than nDCG.
"""

from __future__ import annotations

import functools

import numpy as np

from rankgauge.columns import Flags
from rankgauge.metrics.family import USUAL, per_gold, retrieval, running_sum, with_gold
from rankgauge.metrics.ndcg import (
    Discount,
    Gain,
    check_gains,
    discounted,
    divisor_of,
    expected_sum,
    gains_of,
    positive_gains,
)
from rankgauge.plugin import Contributions, Cutoff, Judged, Rows, Scores

__all__ = ["binary_g", "cumulative_gain", "discounted_cumulative_gain", "g", "ndcg_at_levels", "ndcg_at_relevant"]

_unnormalized = functools.partial(
    retrieval,
    uses_rel=False,
    range=(0.0, None),
    laws=(*USUAL, "monotone-in-k", "linear", "whole-or-pieces"),
    joins=("top_k",),
    own_ranks=True,
)


def _discounted_rows(
    judged: Judged, *, k: Cutoff | None, gain: Gain = "linear", discount: Discount = "log2"
) -> Contributions:
    judged = judged.by_gain()
    rows = judged.at_own_ranks(k)
    discounts = 1.0 / divisor_of(rows.rank, discount)
    return Contributions(rows, gains_of(rows, gain), discounts, found=judged.found_at(rows))


def _expected_dcg(judged: Judged, *, k: Cutoff | None, gain: Gain = "linear", discount: Discount = "log2") -> Scores:
    judged = judged.by_gain()
    return with_gold(judged, expected_sum(judged, k, gain, discount))


@_unnormalized("retrieval-dcg-at-k", short=("dcg", "DCG"), contributions=_discounted_rows, expectation=_expected_dcg)
def discounted_cumulative_gain(
    judged: Judged, *, k: Cutoff | None, gain: Gain = "linear", discount: Discount = "log2"
) -> Scores:
    """
    Gains of the first *k* results, each divided by the discount of its rank; nDCG before it is normalized.

    Formula: ``DCG@k = sum over ranks i up to k of gain(i) / log2(i + 1)``. Source: Järvelin & Kekäläinen, TOIS 2002.

    When to use it: queries with more relevant material should weigh more, or the ideal order is not known.

    Args:
        gain: As in `ndcg`.

        discount: As in `ndcg`.

    Returns:
        Shape (n,), 0 or more unless gains below zero earn; NaN if no gold item has a gain.
    """
    judged = judged.by_gain()
    return with_gold(judged, discounted(judged, judged.at_own_ranks(k), gain, discount))


def _rows(judged: Judged, *, k: Cutoff | None, gain: Gain = "linear") -> Contributions:
    judged = judged.by_gain()
    rows = judged.at_own_ranks(k)
    return Contributions(rows, gains_of(rows, gain), found=judged.found_at(rows))


@_unnormalized("retrieval-cg-at-k", short=("cg", "CG"), contributions=_rows)
def cumulative_gain(judged: Judged, *, k: Cutoff | None, gain: Gain = "linear") -> Scores:
    """
    Sum of the gains of the first *k* results, whatever their order.

    Formula: ``CG@k = sum over ranks i up to k of gain(i)``. Source: Järvelin & Kekäläinen, TOIS 2002.

    When to use it: everything within *k* is read, and grades differ.

    Args:
        gain: As in `ndcg`.

    Returns:
        Shape (n,), 0 or more unless gains below zero earn; NaN if no gold item has a gain.
    """
    judged = judged.by_gain()
    rows = judged.at_own_ranks(k)
    return with_gold(judged, judged.sum(rows, gains_of(rows, gain)))


@retrieval(
    "retrieval-g",
    short=("G",),
    own_ranks=True,
    uses_rel=False,
    check=check_gains,
    laws=("relevant-helps", "bounded", "padding", "tail"),
)
def g(judged: Judged, *, gains: str = "") -> Scores:
    """
    Gain whose discount grows with what an ideal ranking would have gained by then, and this one has not.

    Formula: ``G = sum over ranks i of g_i / log2(2 + C_i - S_i), divided by the sum of all gains``, where *S_i* is the
    gain up to rank i, and *C_i* that of the ideal order, in which every rank costs at least 1. Source: trec_eval,
    measure `G` (experimental there).

    When to use it: to compare with results of trec_eval that report it.

    Args:
        gains: What grades are worth, as in `ndcg`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    judged = positive_gains(judged, gains)
    earned, ideal = judged.at_own_ranks(), judged.ideal()
    best = judged.sum(ideal, ideal.grade)
    # The cost up to rank i: that of the ideal's first i items, and 1 for each rank below its end.
    surplus = judged.sum(ideal, np.maximum(ideal.grade, 1.0)) - judged.n_gold()
    cost = surplus[earned.sample] + earned.rank
    inside = np.flatnonzero(earned.rank <= judged.n_gold()[earned.sample])
    starts = np.searchsorted(ideal.sample, earned.sample[inside])
    cost[inside] = running_sum(ideal, np.maximum(ideal.grade, 1.0))[starts + earned.rank[inside] - 1]
    behind = np.maximum(cost - running_sum(earned, earned.grade), 0.0)
    return judged.sum(earned, earned.grade / np.log2(2.0 + behind)) / np.where(best > 0, best, np.nan)


@retrieval("retrieval-bin-g", short=("binG", "bin_g"), own_ranks=True, laws=(*USUAL, "whole-or-pieces"))
def binary_g(judged: Judged) -> Scores:
    """
    Mean over the relevant items of one over the logarithm of how many irrelevant results rank above each.

    Formula: ``binG = 1/R * sum over relevant ranks of 1 / log2(2 + irrelevant results above)``. Source: trec_eval,
    measure `binG` (experimental there).

    When to use it: to compare with results of trec_eval that report it.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    earned = judged.at_own_ranks()
    return per_gold(judged, judged.sum(earned, 1.0 / np.log2(2.0 + earned.rank - earned.nth())))


@retrieval(
    "retrieval-ndcg-rel",
    short=("ndcg_rel",),
    own_ranks=True,
    uses_rel=False,
    check=check_gains,
    laws=("bounded", *USUAL[3:], "perfect-is-one", "whole-or-pieces"),
)
def ndcg_at_relevant(judged: Judged, *, gains: str = "") -> Scores:
    """
    Mean of nDCG over the ranks of the relevant items.

    Formula: ``1/R * sum over relevant items of nDCG@i`` at the rank *i* where each was found; one that was not found
    counts as the whole ranking's DCG over the whole ideal. Source: trec_eval, measure `ndcg_rel` (experimental there).

    When to use it: to compare with results of trec_eval that report it.

    Args:
        gains: What grades are worth, as in `ndcg`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    judged = positive_gains(judged, gains)
    earned, ideal = judged.at_own_ranks(), judged.ideal()
    wanted = judged.n_gold()
    so_far, best = _discounted_sums(earned), _discounted_sums(ideal)
    last = np.searchsorted(ideal.sample, earned.sample) + np.minimum(earned.rank, wanted[earned.sample]) - 1
    whole, whole_best = judged.sum(earned, _terms(earned)), judged.sum(ideal, _terms(ideal))
    missed = wanted - np.bincount(earned.sample, minlength=judged.n)
    with np.errstate(invalid="ignore"):
        return (judged.sum(earned, so_far / best[last]) + missed * whole / whole_best) / wanted


def _is_relevant(judged: Judged) -> Flags:
    return judged.n_gold() > 0


@retrieval(
    "retrieval-r-ndcg",
    short=("Rndcg",),
    own_ranks=True,
    uses_rel=False,
    defined=_is_relevant,
    check=check_gains,
    laws=("bounded", "best-first"),
)
def ndcg_at_levels(judged: Judged, *, gains: str = "") -> Scores:
    """
    Mean of nDCG at the ranks where the ideal order goes on to a lower gain, and at the end of the ranking.

    Formula: ``mean of nDCG@b`` over *b*, the number of gold items with a gain of g or more, for each gain g above 0,
    and over the number retrieved, if that is two or more above the number of relevant items. Source: trec_eval,
    measure `Rndcg` (experimental there).

    When to use it: to compare with results of trec_eval that report it.

    Args:
        gains: What grades are worth, as in `ndcg`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    is_defined = _is_relevant(judged)  # the one place where trec_eval's threshold matters
    judged = positive_gains(judged, gains)
    earned, ideal = judged.at_own_ranks(), judged.ideal()
    is_last = np.ones(len(ideal.rank), dtype=np.bool_)
    is_last[:-1] = (ideal.sample[1:] != ideal.sample[:-1]) | (ideal.grade[1:] != ideal.grade[:-1])
    ends = ideal.where(is_last)
    step = 1 + max(int(ideal.rank.max(initial=0)), int(earned.rank.max(initial=0)))
    keys = earned.sample * step + earned.rank  # ascending, as rows are
    before = np.searchsorted(keys, ends.sample * step + ends.rank, side="right")
    any_before = before > np.searchsorted(keys, ends.sample * step, side="right")
    reached = np.zeros(len(before))
    reached[any_before] = _discounted_sums(earned)[before[any_before] - 1]
    total = judged.sum(ends, reached / _discounted_sums(ideal)[is_last])
    points = np.bincount(ends.sample, minlength=judged.n)
    goes_on = judged.depth > judged.n_gold() + 1
    with np.errstate(invalid="ignore"):
        whole = judged.sum(earned, _terms(earned)) / judged.sum(ideal, _terms(ideal))
        return (total + np.where(goes_on, whole, 0.0)) / np.where(is_defined, points + goes_on, np.nan)


def _terms(rows: Rows) -> Scores:
    return np.asarray(rows.grade / np.log2(rows.rank + 1), dtype=np.float64)


def _discounted_sums(rows: Rows) -> Scores:
    return running_sum(rows, _terms(rows))
