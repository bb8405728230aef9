"""
Order: the scores of each query in the order of stated ranks and in descending order.
"""

from __future__ import annotations

import numpy as np

from rankgauge.columns import Flags, Floats, Ints, RankingBatch

__all__ = ["BatchRows", "descending", "in_given_order", "repeated"]


class BatchRows:
    """The rows of a batch: the query of each, and whether the row before belongs to the same query."""

    def __init__(self, batch: RankingBatch) -> None:
        self.batch = batch
        self.owners = batch.owners()
        self.inside = np.zeros(len(self.owners), dtype=np.bool_)
        np.equal(self.owners[1:], self.owners[:-1], out=self.inside[1:])

    def steps(self, values: Floats, compare: np.ufunc) -> Flags:
        """Return for which rows *compare* holds with the row before, if that is of the same query."""
        flags = np.zeros(len(values), dtype=np.bool_)
        compare(values[1:], values[:-1], out=flags[1:])
        flags &= self.inside
        return flags

    def gaps(self, ranks: Floats) -> Flags:
        """Return which queries have a rank that does not follow the one of the row before."""
        follows = np.ones(len(ranks), dtype=np.bool_)
        follows[1:] = ranks[1:] - ranks[:-1] == 1.0
        return self.any(self.inside & ~follows)

    def count(self, rows: Flags | Ints) -> Ints:
        """Count rows, flagged or listed, by query."""
        return np.bincount(self.owners[rows], minlength=len(self.batch.lengths))

    def any(self, rows: Flags | Ints) -> Flags:
        """Return which queries have such rows."""
        found: Flags = self.count(rows) > 0
        return found


def in_given_order(rows: BatchRows) -> tuple[Floats, Flags, Flags, Floats]:
    """
    Return the scores in the order of stated ranks, or else of lines, and three facts about each query's ranks.

    These are whether it has ranks, whether they have gaps, and the first of them.
    """
    batch, scores = rows.batch, rows.batch.scores
    ranks = np.full(len(scores), np.nan) if batch.stated is None else batch.stated
    is_numbered = ~rows.any(~np.isfinite(ranks)) & (batch.lengths > 0)
    is_numbered &= rows.any(rows.steps(ranks, np.not_equal)) | (batch.lengths == 1)
    has_gaps = is_numbered & rows.gaps(ranks)
    own = np.flatnonzero(has_gaps[rows.owners])
    if len(own):
        order = own[np.lexsort((-scores[own], ranks[own], rows.owners[own]))]
        scores, ranks = scores.copy(), ranks.copy()
        scores[own], ranks[own] = scores[order], ranks[order]
        has_gaps &= rows.gaps(ranks)
    starts = np.minimum(batch.starts, len(ranks) - 1)
    return scores, is_numbered, has_gaps, np.where(is_numbered, ranks[starts], np.nan)


def descending(rows: BatchRows, is_unsorted: Flags) -> Floats:
    """Return the scores of each query in descending order."""
    scores = rows.batch.scores
    own = np.flatnonzero(is_unsorted[rows.owners])
    if len(own):
        scores = scores.copy()
        scores[own] = scores[own[np.lexsort((-scores[own], rows.owners[own]))]]
    return scores


def repeated(same: Flags) -> Flags:
    """Return which rows equal the row before or the row after."""
    both = same.copy()
    both[:-1] |= same[1:]
    return both
