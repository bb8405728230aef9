"""
`Directory`: finds texts among many distinct ones, by a table of their hashes.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankgauge.columns.rows import Ints
from rankgauge.columns.slices import Slices

__all__ = ["Directory"]

_ROOM = 2
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
        bits = max(8, (len(keys) * _ROOM).bit_length())
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
        same[found] = asked.at(found).equal(self._texts.at(places[found]), hashed=True)
        places[~same] = -1
        return places

    @cached_property
    def _by_text(self) -> dict[bytes, int]:
        """Return the place of each text, for texts of which two have the same hash."""
        return {text: place for place, text in enumerate(self._texts.texts())}
