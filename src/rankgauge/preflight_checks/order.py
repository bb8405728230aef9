"""
Order: the scores of each query in the order of stated ranks and in descending order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankgauge.columns import Flags, Floats, Ints, RankingBatch

__all__ = ["BatchRows", "Stated", "descending", "in_given_order", "repeated"]


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

    def count(self, flags: Flags) -> Ints:
        """Count flagged rows by query."""
        return np.bincount(self.owners[np.flatnonzero(flags)], minlength=len(self.batch.lengths))

    def any(self, flags: Flags) -> Flags:
        """Return which queries have flagged rows."""
        found = np.zeros(len(self.batch.lengths), dtype=np.bool_)
        found[self.owners[np.flatnonzero(flags)]] = True
        return found

    def of(self, wanted: Flags) -> Ints:
        """Return the rows of some queries."""
        return np.flatnonzero(wanted[self.owners])


class Stated(NamedTuple):
    """Whether queries have ranks, whether these have gaps, and the first rank."""

    is_numbered: Flags
    has_gaps: Flags
    first: Floats


def in_given_order(rows: BatchRows) -> tuple[Floats, Stated]:
    """Return the scores in the order of stated ranks, or else of lines, and facts about the ranks."""
    batch = rows.batch
    n, scores = len(batch.lengths), batch.scores
    no = np.zeros(n, dtype=np.bool_)
    if batch.stated is None:
        return scores, Stated(no, no, np.full(n, np.nan))
    ranks = batch.stated
    is_numbered = ~rows.any(~np.isfinite(ranks)) & (batch.lengths > 0)
    changes = rows.any(rows.steps(ranks, np.not_equal))
    is_numbered &= changes | (batch.lengths == 1)
    starts = np.minimum(batch.starts, len(ranks) - 1)
    first = np.where(is_numbered, ranks[starts], np.nan)
    follows = np.ones(len(ranks), dtype=np.bool_)
    follows[1:] = ranks[1:] - ranks[:-1] == 1.0
    irregular = is_numbered & rows.any(rows.inside & ~follows)
    own = rows.of(irregular)
    if not len(own):
        return scores, Stated(is_numbered, no, first)
    order = own[np.lexsort((-scores[own], ranks[own], rows.owners[own]))]
    scores, ranks = scores.copy(), ranks.copy()
    scores[own], ranks[own] = scores[order], ranks[order]
    follows[1:] = ranks[1:] - ranks[:-1] == 1.0
    has_gaps = irregular & rows.any(rows.inside & ~follows)
    return scores, Stated(is_numbered, has_gaps, np.where(is_numbered, ranks[starts], np.nan))


def descending(rows: BatchRows, is_unsorted: Flags) -> Floats:
    """Return the scores of each query in descending order."""
    scores = rows.batch.scores
    own = rows.of(is_unsorted)
    if not len(own):
        return scores
    scores = scores.copy()
    scores[own] = scores[own[np.lexsort((-scores[own], rows.owners[own]))]]
    return scores


def repeated(same: Flags) -> Flags:
    """Return which rows equal the row before or the row after."""
    both = same.copy()
    both[:-1] |= same[1:]
    return both
