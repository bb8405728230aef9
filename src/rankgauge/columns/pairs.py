"""
Judged pairs: finding rows of a run whose document is judged for their query, by a directory of text hashes.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankgauge.columns.judged_rows import Flags, Ints, stretches
from rankgauge.columns.slices import Slices, Words

__all__ = ["Directory", "FewJudged", "JudgedPairs", "salts"]

_ROOM, _LEAST_ROOM = 64, 16
"""How many places the bitmap has for each judgment: it decides how many rows pass by chance."""

_CACHED_BITS, _MOST_BITS = 19, 26

_TOP_BITS = np.uint64(58)
"""What leaves the six highest bits of a key, which say where in a mask it is."""


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
    """

    keys: Words  # the key of each judgment's document
    masks: Words  # the mask of each query
    starts: Ints  # where the judgments of each query begin
    lengths: Ints  # how many each has

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
    """All judged pairs of query and document."""

    pairs: Words  # a key of each pair, in order
    judgment: Ints  # the judgment of each
    bitmap: Flags  # says quickly that a pair is not among them, at the place that the highest bits of its key give
    shift: np.uint64  # what leaves these bits
    has_twins: bool  # whether two pairs have the same key

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
        return np.repeat(rows, several), self.judgment[stretches(first, several)]

    def twins(self) -> tuple[Ints, Ints]:
        """Return pairs of judgments with the same key: one of them, and one after it."""
        at = np.flatnonzero(self.pairs[1:] == self.pairs[:-1])
        return self.judgment[at], self.judgment[at + 1]


_SLOTS = 2
"""How many places the table has for each text at least; it stays small enough for a cache."""


class Directory:
    """
    Places of distinct texts.

    Every text leaves its place in the slot of the table that the highest bits of its hash name; of several that meet in
    one slot the last stays, and the others are found by their hashes in order.
    """

    def __init__(self, texts: Slices) -> None:
        """Take the texts, at least one."""
        self._texts = texts
        self._keys = keys = texts.keys()
        bits = max(8, (len(keys) * _SLOTS).bit_length())
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, dtype=np.int32)
        slots = (keys >> self._shift).view(np.int64)
        places = np.arange(len(keys), dtype=np.int32)
        self._table[slots] = places
        winners = self._table[slots]
        lost = np.flatnonzero(winners != places)
        self._lost = lost[np.argsort(keys[lost])]
        self._lost_keys = keys[self._lost]
        meets = (keys[winners[lost]] == keys[lost]).any() or (self._lost_keys[1:] == self._lost_keys[:-1]).any()
        self._keys_are_distinct = not meets

    def find(self, asked: Slices) -> Ints:
        """Return the place of each text; -1 for one that is not among them."""
        if not self._keys_are_distinct:
            return np.fromiter((self._by_text.get(text, -1) for text in asked.texts()), np.int64, len(asked.start))
        keys = asked.keys()
        places = self._table[(keys >> self._shift).view(np.int64)].astype(np.int64)
        same = self._keys[places] == keys
        others = np.flatnonzero(~same)
        if len(others) and len(self._lost):
            nearest = np.minimum(np.searchsorted(self._lost_keys, keys[others]), len(self._lost) - 1)
            places[others] = self._lost[nearest]
            same[others] = self._lost_keys[nearest] == keys[others]
        found = np.flatnonzero(same)
        same[found] = asked.at(found).equal(self._texts.at(places[found]))
        places[~same] = -1
        return places

    @cached_property
    def _by_text(self) -> dict[bytes, int]:
        """Return the place of each text, for texts of which two have the same hash."""
        return {text: place for place, text in enumerate(self._texts.texts())}
