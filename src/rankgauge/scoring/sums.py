"""
Sums: what each rank adds to the scores of a batch, where a metric says so and its parts do add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.columns import Floats, Ints, Judged, Scores
from rankgauge.scoring.score import SCORED, MetricScores, cut_for

__all__ = ["RankSums", "rank_sums"]

_ROUNDING = 1e-9
"""How far the contributions of a plugin's metric may be from its score."""


class RankSums(NamedTuple):
    """What ranks add to scores, in order of sample, then rank; a rank may have several rows."""

    sample: Ints  # whose score each row adds to
    rank: Ints  # the rank that adds it
    own: Ints  # the own rank of the gold item that earns it; the same if none has one
    gain: Floats  # what it is worth
    discounted: Floats  # the gain times the discount of the rank
    value: Floats  # what it adds to the score
    divisor: Scores  # what the sum of each sample is divided by; NaN if its score is no such sum
    divisor_is: str = ""  # what that is, such as ``ideal DCG``
    faults: Mapping[int, str] = {}  # why the contributions that a metric declares cannot be used, by sample


def rank_sums(scores: MetricScores, judged: Judged) -> RankSums:
    """Return what the ranks of a batch add to its scores, checked against the scores themselves."""
    column, outcome = scores.metric, scores.outcome
    averaged = judged.low is not None and column.metric.expectation != "itself"  # of many orders, not of this one
    if column.metric.explaining.contributions is None or averaged:
        return _nothing(judged.n)
    blame = f"the contributions of {column.name!r} (by {column.provider})"
    try:
        with guarded():
            judged, k = cut_for(column, judged, scores.k)
            sums = column.metric.explaining.contributions(
                judged, **column.metric.cutoff.given(k), **column.params, **scores.extra
            )
            added = sums.scores(judged)
            discounted = sums.gains if sums.discounts is None else sums.gains * sums.discounts
            sample, own = np.asarray(sums.rows.sample), np.asarray(sums.rows.rank)
            rank = own if sums.found is None else np.asarray(sums.found)
            gains, products, values = (
                np.asarray(each, dtype=np.float64) for each in (sums.gains, discounted, sums.values())
            )
            given = np.ones(judged.n) if sums.divisors is None else np.asarray(sums.divisors, dtype=np.float64)
            is_sum = (outcome.status == SCORED) & ~np.isnan(added)
            same = np.isclose(added, outcome.values, rtol=_ROUNDING, atol=_ROUNDING)
    except ForeignError as error:  # scores do not depend on it
        return _nothing(judged.n)._replace(faults=dict.fromkeys(range(judged.n), f"{blame} failed: {error}"))
    faults = {
        place: f"{blame} add up to {float(added[place])!r}, not to its score {float(outcome.values[place])!r}"
        for place in np.flatnonzero(is_sum & ~same).tolist()
    }
    order = slice(None) if sums.found is None else np.lexsort((own, rank, sample))
    return RankSums(
        sample[order],
        rank[order],
        own[order],
        gains[order],
        products[order],
        values[order],
        np.where(is_sum & same, given, np.nan),
        sums.divisor_is,
        faults,
    )


def _nothing(n: int) -> RankSums:
    none, nothing = np.empty(0, dtype=np.int64), np.empty(0)
    return RankSums(none, none, none, nothing, nothing, nothing, np.full(n, np.nan))
