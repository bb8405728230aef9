"""
What the built-in metrics share: how they are declared, and expectations over all orders of tied results.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Flags, Floats
from rankgauge.plugin import Cutoff, Judged, Law, Rows, Scores, metric

__all__ = [
    "USUAL",
    "Tied",
    "always",
    "check_persistence",
    "check_sums",
    "expected_ranks",
    "has_grades",
    "last_rank",
    "n_shown",
    "per_gold",
    "prefix_mean",
    "retrieval",
    "running_sum",
    "share_within",
    "tied",
    "with_gold",
]

USUAL: tuple[Law, ...] = ("bounded", "best-first", "relevant-helps", "padding", "tail", "duplicates")
"""The laws that most metrics obey."""

retrieval = functools.partial(metric, gold=("relevant", "passages", "spans"), laws=USUAL)
"""Declare a metric that is judged by id, or else against passages or spans, and obeys the usual laws."""


def always(judged: Judged) -> Flags:
    """Return that every sample has a value, whatever its ground truth."""
    return np.ones(judged.n, dtype=np.bool_)


def has_grades(judged: Judged) -> Flags:
    """Return which samples' ground truth has grades, so that it can judge an item irrelevant."""
    return judged.graded.copy()


def check_persistence(*, p: float) -> None:
    """Raise a `ValueError` for a probability of going on that cannot be used."""
    if not 0 < p < 1:
        raise ValueError(f"p is the probability of going on to the next result, above 0 and below 1, not {p}")


def per_gold(judged: Judged, values: NDArray[Any]) -> Scores:
    """Divide values by the number of relevant gold items; NaN if there are none."""
    wanted = judged.n_gold()
    shares: Scores = values / (wanted if np.count_nonzero(wanted) == judged.n else np.where(wanted > 0, wanted, np.nan))
    return shares


def with_gold(judged: Judged, values: Scores) -> Scores:
    """Return values, NaN if there are no relevant gold items."""
    wanted = judged.n_gold()
    return values if np.count_nonzero(wanted) == judged.n else np.where(wanted > 0, values, np.nan)


def n_shown(judged: Judged, k: Cutoff | None) -> Scores:
    """Return how many results each sample has within the cutoff."""
    return (judged.depth if k is None else np.minimum(judged.depth, k)).astype(np.float64)


def check_sums(gains: Floats, *sums: Floats) -> None:
    """Raise a `ValueError` for sums of gains that no float holds."""
    for each in sums:
        if np.count_nonzero(np.isfinite(each)) < len(each):
            highest = float(gains.max(initial=0.0))
            raise ValueError(f"gains as high as {highest:g} are too large for a float with these parameters")


def running_sum(rows: Rows, values: Floats) -> Floats:
    """
    Return for each row the sum of the values of its sample up to it, added in rank order, whatever the batch.

    Raises `ValueError` if a float cannot hold one.
    """
    place = rows.nth()
    order = np.argsort(place, kind="stable")
    bounds = np.searchsorted(place[order], np.arange(1, place.max(initial=0) + 2))
    sums = np.array(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        for start, end in zip(bounds[1:-1].tolist(), bounds[2:].tolist(), strict=True):
            here = order[start:end]
            sums[here] += sums[here - 1]  # the row before is the one before of the same sample
    check_sums(rows.grade, sums)
    return sums


class Tied(NamedTuple):
    """Rows with the ranks that they could take, in order of sample, then tie."""

    rows: Rows  # the rank of a row in a tie is as good as any other from low to high
    low: NDArray[np.int64]  # the first rank that each row could take
    high: NDArray[np.int64]  # the last
    starts: NDArray[np.bool_]  # whether a row is the first of its tie
    place: NDArray[np.int64]  # of a row among the rows of its tie, from 0
    together: NDArray[np.int64]  # how many of these rows its tie has
    before: NDArray[np.int64]  # how many rows of its sample are in earlier ties

    @property
    def size(self) -> NDArray[np.int64]:
        """Return how many results the tie of each row has, unjudged ones included."""
        return self.high - self.low + 1


def tied(judged: Judged, mask: NDArray[np.bool_] | None = None) -> Tied:
    """Return the relevant rows, or those of *mask*, with the ranks that they could take."""
    chosen = judged.earns & judged.first & judged.relevance.of(judged.rows.grade) if mask is None else mask
    rows = judged.rows.where(chosen)
    low = rows.rank if judged.low is None else judged.low[chosen]
    high = rows.rank if judged.high is None else judged.high[chosen]
    n = len(low)
    starts = np.ones(n, dtype=np.bool_)
    starts[1:] = (rows.sample[1:] != rows.sample[:-1]) | (low[1:] != low[:-1])
    first = np.flatnonzero(starts)
    counts = np.diff(np.append(first, n))
    place = np.arange(n) - np.repeat(first, counts)
    return Tied(rows, low, high, starts, place, np.repeat(counts, counts), rows.nth() - 1 - place)


def share_within(ties: Tied, k: Cutoff | None) -> Scores:
    """Return the probability that each row is within the cutoff."""
    if k is None:
        return np.ones(len(ties.low))
    return np.clip(_cutoffs(ties, k) - ties.low + 1, 0, ties.size) / ties.size


def expected_ranks(judged: Judged, k: Cutoff | None) -> Scores:
    """Return how many relevant rows are expected within the cutoff, shape (n,)."""
    ties = tied(judged)
    return judged.sum(ties.rows, share_within(ties, k))


def prefix_mean(ties: Tied, values: Scores, k: Cutoff | None) -> Scores:
    """Return the mean over the ranks that each row could take of *values* (at rank 1, 2, ...), 0 beyond the cutoff."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    last = last_rank(ties, k)
    means = (sums[last] - sums[ties.low - 1]) / ties.size
    alone = ties.low == ties.high
    means[alone] = np.where(last[alone] < ties.low[alone], 0.0, values[ties.low[alone] - 1])
    return np.asarray(means, dtype=np.float64)


def last_rank(ties: Tied, k: Cutoff | None) -> NDArray[np.int64]:
    """Return the last rank within the cutoff that each row could take, or ``low - 1``."""
    return ties.high if k is None else np.clip(_cutoffs(ties, k), ties.low - 1, ties.high)


def _cutoffs(ties: Tied, k: Cutoff) -> Cutoff:
    return k if isinstance(k, int) else k[ties.rows.sample]
