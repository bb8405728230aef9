"""
Forbidden items: how much of what must not be retrieved was retrieved.
"""

from __future__ import annotations

import functools

import numpy as np

from rankgauge.metrics.family import n_shown
from rankgauge.plugin import Contributions, Cutoff, Judged, Rows, Scores, metric

__all__ = ["forbidden_any_at_k", "forbidden_count_at_k", "forbidden_rate_at_k"]

_over_forbidden = functools.partial(
    metric,
    gold="forbidden",
    uses_rel=False,
    higher_is_better=False,
    undefined="nothing is forbidden for the sample",
    laws=("bounded", "tail"),
)


def _leaks(judged: Judged, k: Cutoff | None) -> Rows:
    """Return a row for each of the first k results that is forbidden; one that breaks several rules counts once."""
    rows = judged.rows.until(k)
    is_first = np.ones(len(rows.sample), dtype=np.bool_)
    is_first[1:] = (rows.rank[1:] != rows.rank[:-1]) | (rows.sample[1:] != rows.sample[:-1])
    return rows.where(is_first)


def _counted(judged: Judged, k: Cutoff | None) -> Scores:
    """Return how many of the first k results are forbidden, NaN if nothing is."""
    found = np.bincount(_leaks(judged, k).sample, minlength=judged.n)
    return np.where(judged.n_gold() > 0, found, np.nan)


def _sum(judged: Judged, *, k: Cutoff | None) -> Contributions:
    rows = _leaks(judged, k)
    return Contributions(rows, np.ones(len(rows.sample)))


def _share(judged: Judged, *, k: Cutoff | None) -> Contributions:
    return _sum(judged, k=k)._replace(divisors=n_shown(judged, k), divisor_is="results shown")


@_over_forbidden(
    "forbidden-count-at-k",
    short=("forbidden_count", "leaks"),
    contributions=_sum,
    range=(0.0, None),
    laws=("bounded", "tail", "monotone-in-k"),
)
def forbidden_count_at_k(judged: Judged, *, k: Cutoff | None) -> Scores:
    """
    Count the forbidden items among the first k results.

    Formula: ``|ranks up to k with a forbidden item|``. Only samples for which something is forbidden count.

    When to use it: as a gate, ``forbidden_count@10 <= 0``: the mean is 0 only if nothing leaked at all.

    Returns:
        Shape (n,), whole numbers of 0 or more; NaN if nothing is forbidden.
    """
    return _counted(judged, k)


@_over_forbidden("forbidden-rate-at-k", short=("forbidden_rate",), contributions=_share)
def forbidden_rate_at_k(judged: Judged, *, k: Cutoff | None) -> Scores:
    """
    Fraction of the first k results that is forbidden.

    Formula: ``|ranks up to k with a forbidden item| / min(k, |retrieved|)``, 0 if nothing was retrieved. Only
    samples for which something is forbidden count.

    When to use it: to see how much of what a reader is shown must not be shown.

    Returns:
        Shape (n,), from 0 to 1; NaN if nothing is forbidden.
    """
    return _counted(judged, k) / np.maximum(n_shown(judged, k), 1)


@_over_forbidden("forbidden-any-at-k", short=("forbidden_any", "leak"), laws=("bounded", "tail", "monotone-in-k"))
def forbidden_any_at_k(judged: Judged, *, k: Cutoff | None) -> Scores:
    """
    Whether any of the first k results is forbidden: the mean is the share of questions that leak.

    Formula: 1 if a forbidden item is at a rank up to k, else 0. Only samples for which something is forbidden
    count.

    When to use it: to say of how many questions something leaks; its mean has the interval of a share.

    Returns:
        Shape (n,), 0 or 1; NaN if nothing is forbidden.
    """
    return np.minimum(_counted(judged, k), 1.0)
