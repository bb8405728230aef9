"""
Freshness: how much of what was retrieved was out of date when the question was asked.
"""

from __future__ import annotations

import numpy as np

from rankgauge.columns import Flags
from rankgauge.metrics.family import n_shown
from rankgauge.plugin import Contributions, Cutoff, Judged, Scores, metric

__all__ = ["stale_at_k"]


def _is_empty(judged: Judged) -> Flags:
    empty: Flags = judged.depth == 0  # no matter of time; any other ranking lacks a score if nothing says when
    return empty


def _share(judged: Judged, *, k: Cutoff | None) -> Contributions:
    rows = judged.rows.until(k)
    known = np.bincount(rows.sample, minlength=judged.n) > 0
    stale = rows.where(rows.grade > 0)
    divisors = np.where(known, n_shown(judged, k), np.nan)
    return Contributions(stale, np.ones(len(stale.rank)), None, divisors, "results shown")


@metric(
    "stale-at-k",
    short=("stale",),
    gold="asked_at",
    uses_rel=False,
    higher_is_better=False,
    defined=_is_empty,
    undefined="nothing says when any of the results that count is valid",
    laws=("bounded", "tail"),
    contributions=_share,
)
def stale_at_k(judged: Judged, *, k: Cutoff | None) -> Scores:
    """
    Fraction of the first k results that was out of date, or not yet true, when the question was asked.

    Formula: ``|ranks up to k whose item is not valid at asked_at| / min(k, |retrieved|)``. An item is valid from its
    `valid_from` (inclusive) to its `valid_to` (exclusive), as the ground truth says or else the metadata of the item;
    if neither says so, it counts as valid. Only samples with `metadata.asked_at` count.

    When to use it: facts change, and what was retrieved has to be true on the day of the question.

    Returns:
        Shape (n,), from 0 to 1; NaN if nothing says when any of the first k results is valid.
    """
    return _share(judged, k=k).scores(judged)
