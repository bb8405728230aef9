"""
nDCG averaged over several cutoffs of each sample, as trec_eval's experimental measures do.
"""

from __future__ import annotations

import numpy as np

from rankgauge.metrics.family import USUAL, retrieval, running_sum
from rankgauge.metrics.ndcg import positive_gains
from rankgauge.plugin import Judged, Rows, Scores

__all__ = ["ndcg_at_levels", "ndcg_at_relevant"]


@retrieval("retrieval-ndcg-rel", short=("ndcg_rel",), uses_rel=False, laws=(*USUAL[:1], *USUAL[2:], "perfect-is-one"))
def ndcg_at_relevant(judged: Judged, *, gains: str = "") -> Scores:
    """
    Mean of nDCG over the ranks of the relevant items.

    Formula: ``1/R * sum over relevant items of nDCG@i`` at the rank *i* where each was found; one that was not found
    counts as the whole ranking's DCG over the whole ideal. Source: trec_eval, measure `ndcg_rel` (experimental there).

    When to use it: to compare with results of trec_eval that report it.

    Args:
        judged: The rankings of a batch of samples.

        gains: What grades are worth, as in `ndcg`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """
    judged = positive_gains(judged, gains)
    earned, ideal = judged.credits(), judged.ideal()
    wanted = judged.n_gold()
    so_far, best = _discounted_sums(earned), _discounted_sums(ideal)
    last = np.searchsorted(ideal.sample, earned.sample) + np.minimum(earned.rank, wanted[earned.sample]) - 1
    whole, whole_best = judged.sum(earned, _terms(earned)), judged.sum(ideal, _terms(ideal))
    missed = wanted - np.bincount(earned.sample, minlength=judged.n)
    with np.errstate(invalid="ignore"):
        return (judged.sum(earned, so_far / best[last]) + missed * whole / whole_best) / wanted


@retrieval("retrieval-r-ndcg", short=("Rndcg",), uses_rel=False, laws=("bounded", "best-first"))
def ndcg_at_levels(judged: Judged, *, gains: str = "") -> Scores:
    """
    Mean of nDCG at the ranks where the ideal order goes on to a lower gain, and at the end of the ranking.

    Formula: ``mean of nDCG@b`` over *b*, the number of gold items with a gain of g or more, for each gain g above 0,
    and over the number retrieved, if that is two or more above the number of relevant items. Source: trec_eval,
    measure `Rndcg` (experimental there).

    When to use it: to compare with results of trec_eval that report it.

    Args:
        judged: The rankings of a batch of samples.

        gains: What grades are worth, as in `ndcg`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """
    is_defined = judged.n_gold() > 0  # the one place where trec_eval's threshold matters
    judged = positive_gains(judged, gains)
    earned, ideal = judged.credits(), judged.ideal()
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
