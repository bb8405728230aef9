"""
Hashes of ids that depend on no order: gold keys, and a sketch of the ids that a run retrieved.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rankgauge.columns.judged import Judged
from rankgauge.columns.judged_rows import Floats, Ints, first_of_each
from rankgauge.columns.slices import Slices, Words, mixed

__all__ = ["IdSketch", "IdSketcher", "bits", "keys_of_gold"]


def keys_of_gold(keys: Words, grades: Floats, owners: Ints, n: int) -> Words:
    """
    Return a hash for each of *n* owners, whatever the order of what it owns.

    Args:
        keys: A hash of each document (`Slices.keys`).

        grades: The grade of each.

        owners: Whose it is, from 0.

        n: How many owners there are.

    Returns:
        One word for each owner; 0 for one that owns nothing.
    """
    sums = np.zeros(n, dtype=np.uint64)
    np.add.at(sums, owners, mixed(keys, bits(grades)))
    return sums


def bits(grades: Floats) -> Words:
    """Return grades as words; those of 0 and -0 are the same."""
    words: Words = (np.asarray(grades, dtype=np.float64) + 0.0).view(np.uint64)
    return words


_SIZE = 1024
_FEWEST = 8
"""How many ids of a sample of ids must be there to say anything by it."""

_FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
_NEXT_MIX = np.uint64(0x94D049BB133111EB)
_ALL_BITS = 2**64 - 1


class IdSketch(NamedTuple):
    """
    A bottom-k sketch of the distinct ids that a run retrieved: the smallest of their hashes.

    A hash is as good as random, so that these ids are a random sample, and two runs sample the same ids. Up to 1,024
    distinct ids the sketch has all of them.
    """

    hashes: tuple[int, ...] = ()  # at most 1,024 hashes in ascending order
    gold: int = 0  # how many relevant ids there were to find, over all samples
    found: int = 0  # how many of them were retrieved

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> IdSketch:
        """Return what `to_dict` wrote; raise `ValueError` or `KeyError` for anything else."""
        return cls(tuple(int(each, 16) for each in data["hashes"]), int(data["gold"]), int(data["found"]))

    def to_dict(self) -> dict[str, Any]:
        """Return it in values that JSON has."""
        return {"gold": self.gold, "found": self.found, "hashes": [f"{each:016x}" for each in self.hashes]}

    def merged(self, other: IdSketch) -> IdSketch:
        """Return the sketch of two parts of one run."""
        hashes = tuple(sorted({*self.hashes, *other.hashes})[:_SIZE])
        return IdSketch(hashes, self.gold + other.gold, self.found + other.found)

    @property
    def found_share(self) -> float | None:
        """Return the share of the relevant ids that were retrieved; None if there is no relevant id."""
        return self.found / self.gold if self.gold else None

    def new_share(self, earlier: IdSketch) -> float | None:
        """Return which share of the ids *earlier* did not retrieve, estimated; None if too few can be compared."""
        limit = min(self._limit, earlier._limit)
        own = [each for each in self.hashes if each <= limit]
        if not own or (limit < _ALL_BITS and len(own) < _FEWEST):
            return None
        known = set(earlier.hashes)
        return sum(each not in known for each in own) / len(own)

    @property
    def _limit(self) -> int:
        """Return up to which hash every id is in the sketch."""
        return self.hashes[-1] if len(self.hashes) == _SIZE else _ALL_BITS


class IdSketcher:
    """Takes the ids of one run in any order, from several threads, and makes the sketch of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: Words = np.empty(0, dtype=np.uint64)
        self._limit = np.uint64(_ALL_BITS)
        self._gold = self._found = 0

    def add(self, keys: Words) -> None:
        """Take ids by the keys that `Slices.keys` gives them."""
        hashes = _spread(keys)
        hashes = hashes[hashes <= self._limit]
        if not len(hashes):
            return
        with self._lock:
            ordered = np.sort(np.concatenate([self._kept, hashes]))
            self._kept = ordered[first_of_each(ordered.view(np.int64))][:_SIZE]
            if len(self._kept) == _SIZE:
                self._limit = self._kept[-1]

    def add_texts(self, ids: Iterable[str | None]) -> None:
        """Take ids as texts; an item without an id has none to take."""
        distinct = {each for each in ids if each is not None}
        if distinct:
            self.add(Slices.of_strings(list(distinct)).keys())

    def count_gold(self, judged: Judged) -> None:
        """Count the relevant ids of some judged samples, and those that were found."""
        self._gold += int(np.count_nonzero(judged.relevance.of(judged.gold.grade)))
        self._found += int(np.count_nonzero(judged.relevance.of(judged.rows.grade[judged.first])))

    def sketch(self) -> IdSketch:
        """Return the sketch of what was taken."""
        return IdSketch(tuple(self._kept.tolist()), self._gold, self._found)


def _spread(keys: Words) -> Words:
    """Return keys as hashes in random order; without this, keys of similar ids would be close together."""
    spread = keys ^ (keys >> np.uint64(30))
    spread *= _FIRST_MIX
    spread ^= spread >> np.uint64(27)
    spread *= _NEXT_MIX
    spread ^= spread >> np.uint64(31)
    return spread
