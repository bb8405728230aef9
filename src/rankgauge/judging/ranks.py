"""
Ranks of rows: at which rank some rows of a batch of rankings stand, without sorting what is in order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankgauge.columns import Floats, Ints, RankingBatch
from rankgauge.columns.rows import distinct

__all__ = ["Ranks", "ranks_of"]


class Ranks(NamedTuple):
    """
    Where some rows stand.

    Attributes:
        rank: The rank of each row, from 1.

        low: The first rank among the rows of the same query and score.

        high: The last such rank.
    """

    rank: Ints
    low: Ints
    high: Ints


def ranks_of(batch: RankingBatch, rows: Ints, *, by_id: bool) -> Ranks:
    """Rank some rows by score, descending; equal scores *by_id*, descending by bytes, or else as they are given."""
    n = len(batch.scores)
    starts = batch.starts[batch.lengths > 0]
    begins = np.zeros(n + 1, dtype=np.bool_)
    begins[starts] = True
    begins[n] = True
    sorting = _sorting(batch, begins, starts)
    scores = batch.scores if sorting is None else sorting.scores
    places = rows if sorting is None else sorting.place_of[rows]
    first = starts[np.searchsorted(starts, rows, side="right") - 1]
    rank = places - first + 1
    apart = begins  # whether a place holds another score than the one before it
    np.logical_or(begins[1:n], scores[1:] != scores[:-1], out=begins[1:n])
    tied = np.flatnonzero(~(apart[places] & apart[places + 1]))
    low, high = rank.copy(), rank.copy()
    if not len(tied):
        return Ranks(rank, low, high)
    edges = np.flatnonzero(apart)
    group = np.searchsorted(edges, places[tied], side="right") - 1
    low[tied] = edges[group] - first[tied] + 1
    high[tied] = edges[group + 1] - first[tied]
    if by_id:
        chosen = distinct(group)
        sizes = edges[chosen + 1] - edges[chosen]
        members = np.repeat(edges[chosen] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        member_rows = members if sorting is None else sorting.row_at[members]
        order = batch.documents.at(member_rows).order(np.repeat(np.arange(len(chosen)), sizes))
        settled = np.arange(n) if sorting is None else sorting.place_of
        settled[member_rows[order]] = members
        rank[tied] = settled[rows[tied]] - first[tied] + 1
    return Ranks(rank, low, high)


class _Sorting(NamedTuple):
    """A batch in order of score: the scores, the place of each row, and the row at each place."""

    scores: Floats
    place_of: Ints
    row_at: Ints


def _sorting(batch: RankingBatch, begins: np.ndarray, starts: Ints) -> _Sorting | None:
    """Sort the queries whose scores rise somewhere; None where there is none."""
    n = len(batch.scores)
    rises = np.flatnonzero((batch.scores[1:] > batch.scores[:-1]) & ~begins[1:n]) + 1
    if not len(rises):
        return None
    unsorted = distinct(np.searchsorted(starts, rises, side="right") - 1)
    lengths = np.diff(np.append(starts, n))[unsorted]
    rows = np.repeat(starts[unsorted] - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))
    order = rows[np.lexsort((-batch.scores[rows], np.repeat(unsorted, lengths)))]  # stable: as given among equals
    row_at = np.arange(n)
    row_at[rows] = order
    place_of = np.arange(n)
    place_of[order] = rows
    return _Sorting(batch.scores[row_at], place_of, row_at)
