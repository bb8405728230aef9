"""
Judged pairs: finding rows of a run whose document is judged for their query, among millions that are not.

Where every query has few judgments, a mask of each query tells most rows apart; elsewhere a bitmap of all pairs does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankgauge.columns.rows import Flags, Ints
from rankgauge.columns.slices import Words

__all__ = ["FewJudged", "JudgedPairs", "salts"]

_ROOM, _LEAST_ROOM = 64, 16
"""How many places the bitmap has for each judgment: it decides how many rows pass by chance."""

_CACHED_BITS, _MOST_BITS = 19, 26

_TOP_BITS = np.uint64(58)
"""What leaves the six highest bits of a key, which say where in a mask it stands."""


def salts(count: int) -> Words:
    """Return a number for each query that makes the pairs of its documents its own."""
    places = np.arange(1, count + 1, dtype=np.uint64)
    places *= np.uint64(0xD6E8FEB86659FD93)
    places ^= places >> np.uint64(32)
    places *= np.uint64(0xD6E8FEB86659FD93)
    return places


class FewJudged(NamedTuple):
    """
    Queries with few judgments each, of which a mask of 64 bits has one for each judgment.

    A row has to meet the mask of its query before it is compared with each judgment. Masks are read in order of the
    queries, and so are in a cache.

    Attributes:
        keys: The key of each judgment's document.

        masks: The mask of each query.

        starts: Where the judgments of each query begin.

        lengths: How many each has.
    """

    keys: Words
    masks: Words
    starts: Ints
    lengths: Ints

    @classmethod
    def of(cls, keys: Words, owners: Ints, lengths: Ints) -> FewJudged:
        """Make the masks."""
        masks = np.zeros(len(lengths), dtype=np.uint64)
        np.bitwise_or.at(masks, owners, np.uint64(1) << (keys >> _TOP_BITS))
        return cls(keys, masks, np.cumsum(lengths) - lengths, lengths)

    def find(self, keys: Words, places: Ints, lengths: Ints) -> tuple[Ints, Ints]:
        """Return rows and judgments with the same key, of queries at *places* with *lengths* rows each."""
        met = np.repeat(self.masks[places], lengths)
        met >>= keys >> _TOP_BITS
        met &= np.uint64(1)
        rows = np.flatnonzero(met.astype(np.bool_))
        owners = places[np.searchsorted(np.cumsum(lengths), rows, side="right")]
        first, count, asked = self.starts[owners], self.lengths[owners], keys[rows]
        found, judgments = [rows[:0]], [rows[:0]]
        for nth in range(int(count.max(initial=0))):
            at = np.flatnonzero(count > nth)
            at = at[self.keys[first[at] + nth] == asked[at]]
            found.append(rows[at])
            judgments.append(first[at] + nth)
        return np.concatenate(found), np.concatenate(judgments)

    def twins(self, owners: Ints) -> tuple[Ints, Ints]:
        """Return pairs of judgments of one query with the same key: one of them, and one after it."""
        apart = range(1, int(self.lengths.max(initial=0)))
        keys = self.keys
        again = [np.flatnonzero((keys[by:] == keys[:-by]) & (owners[by:] == owners[:-by])) for by in apart]
        first = np.concatenate([owners[:0], *again])
        second = np.concatenate([owners[:0], *(at + by for by, at in zip(apart, again, strict=True))])
        return first, second


class JudgedPairs(NamedTuple):
    """
    All judged pairs of query and document.

    Attributes:
        pairs: A key of each pair, in order.

        judgment: The judgment of each.

        bitmap: Says quickly that a pair is not among them, at the place that the highest bits of its key give.

        shift: What leaves these bits.

        has_twins: Whether two pairs have the same key.
    """

    pairs: Words
    judgment: Ints
    bitmap: Flags
    shift: np.uint64
    has_twins: bool

    @classmethod
    def of(cls, pairs: Words) -> JudgedPairs:
        """Sort pairs and make the bitmap."""
        order = np.argsort(pairs, kind="stable")
        roomy, tight = ((len(pairs) * room).bit_length() for room in (_ROOM, _LEAST_ROOM))
        bits = max(12, min(roomy, max(_CACHED_BITS, tight), _MOST_BITS))
        shift = np.uint64(64 - bits)
        bitmap = np.zeros(1 << bits, dtype=np.bool_)
        bitmap[(pairs >> shift).view(np.int64)] = True
        pairs = pairs[order]
        return cls(pairs, order, bitmap, shift, bool((pairs[1:] == pairs[:-1]).any()))

    def find(self, pairs: Words) -> tuple[Ints, Ints]:
        """Return the rows whose pair may be judged, and their judgments."""
        rows = np.flatnonzero(self.bitmap[(pairs >> self.shift).view(np.int64)])
        first = np.searchsorted(self.pairs, pairs[rows])
        there = self.pairs[np.minimum(first, len(self.pairs) - 1)] == pairs[rows]
        rows, first = rows[there], first[there]
        if not self.has_twins:
            return rows, self.judgment[first]
        several = np.searchsorted(self.pairs, pairs[rows], side="right") - first
        within = np.arange(int(several.sum())) - np.repeat(np.cumsum(several) - several, several)
        return np.repeat(rows, several), self.judgment[np.repeat(first, several) + within]

    def twins(self) -> tuple[Ints, Ints]:
        """Return pairs of judgments with the same key: one of them, and one after it."""
        at = np.flatnonzero(self.pairs[1:] == self.pairs[:-1])
        return self.judgment[at], self.judgment[at + 1]
