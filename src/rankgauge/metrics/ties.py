"""
Ties: what the expectations over all orders of tied results are made of.

McSherry & Najork, Computing information retrieval performance measures efficiently in the presence of tied scores,
ECIR 2008. A judged row of a tie may stand at any rank from `low` to `high`, each with the same probability; rows of one
tie are drawn without replacement. Everything here is for judging by id, where a rank holds one item at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.plugin import Cutoff, Judged, Rows, Scores

__all__ = ["Tied", "expected_ranks", "last_rank", "prefix_mean", "share_within", "tied"]


class Tied(NamedTuple):
    """
    Rows with the ranks that they could take, in order of sample, then tie.

    Attributes:
        rows: The rows; the rank of one in a tie is as good as any other from `low` to `high`.

        low: The first rank that each could take.

        high: The last.

        starts: Whether a row is the first of its tie.

        place: Which of its tie's rows it is, from 0.

        together: How many of these rows its tie has.

        before: How many rows of its sample stand in earlier ties.
    """

    rows: Rows
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    starts: NDArray[np.bool_]
    place: NDArray[np.int64]
    together: NDArray[np.int64]
    before: NDArray[np.int64]

    @property
    def size(self) -> NDArray[np.int64]:
        """Return how many results the tie of each row has, unjudged ones included."""
        return self.high - self.low + 1


def tied(judged: Judged, mask: NDArray[np.bool_] | None = None) -> Tied:
    """
    Return the relevant rows with the ranks that they could take.

    Args:
        judged: The rankings of a batch of samples.

        mask: Which rows, where not the relevant ones.

    Returns:
        The rows; where ranks are settled, each alone at its rank.
    """
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
    """
    Return the probability that each row stands within the cutoff.

    Args:
        ties: The rows.

        k: The cutoff; None for none.

    Returns:
        Shape (rows,), from 0 to 1.
    """
    if k is None:
        return np.ones(len(ties.low))
    return np.clip(_cutoffs(ties, k) - ties.low + 1, 0, ties.size) / ties.size


def expected_ranks(judged: Judged, k: Cutoff | None) -> Scores:
    """
    Return how many relevant rows are expected within the cutoff.

    Args:
        judged: The rankings of a batch of samples.

        k: The cutoff; None for none.

    Returns:
        Shape (n,).
    """
    ties = tied(judged)
    return judged.sum(ties.rows, share_within(ties, k))


def prefix_mean(ties: Tied, values: Scores, k: Cutoff | None) -> Scores:
    """
    Return the mean of a function of the rank over the ranks that each row could take, 0 beyond the cutoff.

    Args:
        ties: The rows.

        values: The function at rank 1, 2, ... down to the last rank that a row could take.

        k: The cutoff; None for none.

    Returns:
        Shape (rows,).
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    last = last_rank(ties, k)
    means = (sums[last] - sums[ties.low - 1]) / ties.size
    alone = ties.low == ties.high
    means[alone] = np.where(last[alone] < ties.low[alone], 0.0, values[ties.low[alone] - 1])
    return np.asarray(means, dtype=np.float64)


def last_rank(ties: Tied, k: Cutoff | None) -> NDArray[np.int64]:
    """Return the last rank within the cutoff that each row could take, ``low - 1`` where there is none."""
    return ties.high if k is None else np.clip(_cutoffs(ties, k), ties.low - 1, ties.high)


def _cutoffs(ties: Tied, k: Cutoff) -> Cutoff:
    return k if isinstance(k, int) else k[ties.rows.sample]
