"""
Ranks of rows without sorting what is in order, and rows that repeat a document of their query.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Flags, Floats, Ints, RankingBatch, Slices, Words
from rankgauge.columns.judged_rows import distinct

__all__ = ["Ranks", "RepeatFinder", "Repeats", "grouped", "ranks_of", "surplus"]


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


_ROOM = 4
"""How many places the table has for each row: what decides how many rows have to be looked at twice."""


class Repeats(NamedTuple):
    """
    Rows that hold the same document of the same query.

    Attributes:
        rows: The rows, group by group, in the order given within each.

        group: The number of each row's group.
    """

    rows: Ints
    group: Ints


class RepeatFinder:
    """Finds repeated rows of one batch after another, in memory that is used again."""

    def __init__(self) -> None:
        self._table: NDArray[np.uint32] = np.empty(0, dtype=np.uint32)

    def find(self, pairs: Words, documents: Slices) -> Repeats:
        """
        Return the rows that share query and document with another; none for nearly every run.

        Every row leaves its number at the place that its key gives. A row that finds another number there was
        overwritten: by one with the same key, or by chance. Those go round again with other bits of their keys until
        none is left, so two equal rows land in the same slot in some round.

        For example, three rows with the keys 0x10, 0x1F and 0x10, and a table of 16 slots, found by a key's high bits:
        all three write to slot 1, row 2 last. Rows 0 and 1 read 2 there. Row 0 has row 2's key: a duplicate.
        """
        bits = max(12, (len(pairs) * _ROOM).bit_length())
        if self._table.size < 1 << bits:
            self._table = np.empty(1 << bits, dtype=np.uint32)
        rows = np.arange(len(pairs), dtype=np.uint32)
        left, keys, low = rows, pairs, 64 - bits
        found = [left[:0]]
        while len(left):
            places = (keys >> np.uint64(low)).view(np.int64)
            if low < 64 - bits:
                places &= (1 << bits) - 1
            self._table[places] = left
            winners = self._table[places]
            lost = np.flatnonzero(winners != left)
            same = pairs[winners[lost]] == keys[lost]
            if same.any():
                found += left[lost[same]], winners[lost[same]]
                lost = lost[~same]
            left, keys, low = left[lost], keys[lost], max(low - 7, 0)
        repeated = distinct(np.concatenate(found).astype(np.int64))
        among = grouped(pairs[repeated], documents.at(repeated))
        return Repeats(repeated[among.rows], among.group)


def grouped(pairs: Words, documents: Slices) -> Repeats:
    """Return the rows that share query and document with another, by sorting them all."""
    rows = np.argsort(pairs, kind="stable")
    same: Flags = pairs[rows[1:]] == pairs[rows[:-1]]
    alike = np.flatnonzero(same)
    same[alike] = documents.at(rows[alike]).equal(documents.at(rows[alike + 1]))
    inside = np.zeros(len(rows), dtype=np.bool_)
    inside[1:] |= same
    inside[:-1] |= same
    begins = np.ones(len(rows), dtype=np.bool_)
    begins[1:] = ~same
    group: Ints = np.cumsum(begins)
    return Repeats(rows[inside], group[inside])


def surplus(repeats: Repeats, rule: str, scores: Floats) -> Ints:
    """Return all rows but one of each group: the `first`, the `last` or the `best`, the first of the highest score."""
    preference = {"first": repeats.rows, "last": -repeats.rows, "best": -scores[repeats.rows]}[rule]
    order = np.lexsort((repeats.rows, preference, repeats.group))
    again = np.zeros(len(order), dtype=np.bool_)
    again[1:] = repeats.group[order][1:] == repeats.group[order][:-1]
    return repeats.rows[order][again]
