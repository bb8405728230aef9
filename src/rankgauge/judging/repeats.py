"""
Repeated rows: documents that one query of a run retrieves more than once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Flags, Floats, Ints, Slices, Words
from rankgauge.columns.rows import distinct

__all__ = ["RepeatFinder", "Repeats", "grouped", "surplus"]

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
