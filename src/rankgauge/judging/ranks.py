"""
Ranks of rows without sorting what is in order, and rows that repeat a document of their query.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Flags, Floats, Ints, RankingBatch, Slices, Words
from rankgauge.columns.judged_rows import distinct, stretches

__all__ = ["Ranks", "RepeatFinder", "Repeats", "grouped", "ranks_of", "surplus"]


class Ranks(NamedTuple):
    """Where some rows are."""

    rank: Ints  # the rank of each row, from 1
    tie_first: Ints  # the first rank among the rows of the same query and score
    tie_last: Ints  # the last such rank


def ranks_of(batch: RankingBatch, rows: Ints, *, by_id: bool) -> Ranks:
    """Rank some rows by score, descending; equal scores *by_id*, descending by bytes, or else as they are given."""
    # A query with the rows 0 1 2, documents a b c and scores 1 3 1, then one with the rows 3 4 and scores 7 5:
    #   position        0  1  2 | 3  4
    #   row_at          1  0  2 | 3  4     the second query is in order, and is not sorted
    #   score           3  1  1 | 7  5
    #   begins_tie      T  T  F | T  T  T  where query or score change, and at the end
    # Row 0 has position 1 and so rank 2, in a tie of ranks 2 to 3. By id c comes before a, which gives it rank 3.
    n_rows = len(batch.scores)
    query_starts = batch.starts  # of several queries that start together all but the last are empty
    begins_query = np.zeros(n_rows + 1, dtype=np.bool_)
    begins_query[query_starts] = True
    begins_query[n_rows] = True
    order = _order(batch, begins_query, query_starts)
    scores = batch.scores if order is None else order.scores
    position = rows if order is None else order.position_of[rows]
    query_start = query_starts[np.searchsorted(query_starts, rows, side="right") - 1]
    rank = position - query_start + 1
    begins_tie = begins_query
    np.logical_or(begins_query[1:n_rows], scores[1:] != scores[:-1], out=begins_tie[1:n_rows])
    tied = np.flatnonzero(~(begins_tie[position] & begins_tie[position + 1]))
    tie_first, tie_last = rank.copy(), rank.copy()
    if not len(tied):
        return Ranks(rank, tie_first, tie_last)
    tie_starts = np.flatnonzero(begins_tie)
    tie_no = np.searchsorted(tie_starts, position[tied], side="right") - 1
    tie_first[tied] = tie_starts[tie_no] - query_start[tied] + 1
    tie_last[tied] = tie_starts[tie_no + 1] - query_start[tied]
    if by_id:
        ties = distinct(tie_no)
        sizes = tie_starts[ties + 1] - tie_starts[ties]
        positions = stretches(tie_starts[ties], sizes)
        members = positions if order is None else order.row_at[positions]
        by_bytes = batch.documents.at(members).order(np.repeat(np.arange(len(ties)), sizes))
        position_of = np.empty(n_rows, dtype=np.int64)  # of the members of these ties
        position_of[members[by_bytes]] = positions
        rank[tied] = position_of[rows[tied]] - query_start[tied] + 1
    return Ranks(rank, tie_first, tie_last)


class _Order(NamedTuple):
    """The rows of a batch by query and score: the score and the row at each position, and the position of each row."""

    scores: Floats
    row_at: Ints
    position_of: Ints


def _order(batch: RankingBatch, begins_query: Flags, query_starts: Ints) -> _Order | None:
    """Sort the queries whose scores rise somewhere; None if there is none."""
    n_rows = len(batch.scores)
    rises = np.flatnonzero((batch.scores[1:] > batch.scores[:-1]) & ~begins_query[1:n_rows]) + 1
    if not len(rises):
        return None
    unsorted = distinct(np.searchsorted(query_starts, rises, side="right") - 1)
    lengths = np.diff(np.append(query_starts, n_rows))[unsorted]
    positions = stretches(query_starts[unsorted], lengths)
    by_score = np.lexsort((-batch.scores[positions], np.repeat(unsorted, lengths)))  # stable: as given among equals
    row_at, position_of = np.arange(n_rows), np.arange(n_rows)
    row_at[positions] = positions[by_score]
    position_of[positions[by_score]] = positions
    return _Order(batch.scores[row_at], row_at, position_of)


_ROOM = 4
"""How many places the table has for each row: what decides how many rows have to be looked at twice."""


class Repeats(NamedTuple):
    """Rows that hold the same document of the same query."""

    rows: Ints  # the rows, group by group, in the order given within each
    group: Ints  # the number of each row's group


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
