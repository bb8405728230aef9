"""
Gold keys: a number for what a sample is judged against, by which two results tell whether that was the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain

import numpy as np
import orjson

from rankgauge.columns import Slices, Words, keys_of_gold
from rankgauge.judging.blocks import JudgedBlock
from rankgauge.samples import Expected, Sample

__all__ = ["GoldKeys"]

_EMPTY: Mapping[str, float] = {}
_NO_OTHERS = [None] * (len(Expected._fields) - 3)


class GoldKeys:
    """Hashes what samples are judged against: relevant ids many samples at a time, and the rest of each."""

    def __init__(self) -> None:
        self._gold: list[Mapping[str, float]] = []
        self._rest: list[int] = []
        self._done: list[Words] = []

    def add(self, samples: Sequence[Sample]) -> None:
        """Take some more samples."""
        self._gold += [sample.expected.relevant or _EMPTY for sample in samples]
        self._rest += map(_rest, samples)

    def add_block(self, judged: JudgedBlock) -> None:
        """Take some more plain samples."""
        self.close()
        block, known = judged.block, {k: _plain(True, False, k) for k in set(judged.block.ks)}
        rest = np.array(list(map(known.__getitem__, block.ks)), dtype=np.uint64)
        rest[list(block.graded)] = [_plain(True, True, block.ks[place]) for place in block.graded]
        self._done.append(judged.qrels.gold_keys ^ rest)

    def close(self) -> None:
        """Hash what was taken and let go of it."""
        if not self._gold:
            return
        lengths = np.fromiter(map(len, self._gold), np.int64, len(self._gold))
        ids = Slices.of_strings(list(chain.from_iterable(self._gold)))
        grades = np.fromiter((gain for gains in self._gold for gain in gains.values()), np.float64, len(ids.start))
        owners = np.repeat(np.arange(len(lengths)), lengths)
        relevant = keys_of_gold(ids.keys(), grades, owners, len(lengths))
        self._done.append(relevant ^ np.array(self._rest, dtype=np.uint64))
        self._gold, self._rest = [], []

    def add_keys(self, keys: Words) -> None:
        """Take the hashes of some more samples; what was added before is closed."""
        self._done.append(keys)

    def keys(self) -> Words:
        """Return a 64-bit hash of each sample's ground truth, flags and own cutoff; the same in every process."""
        self.close()
        return np.concatenate([np.empty(0, dtype=np.uint64), *self._done])


def _rest(sample: Sample) -> int:
    """Return a hash of everything else that a sample is judged by."""
    relevant, graded, *others, _ = sample.expected
    if sample.answerable and others == _NO_OTHERS:
        return _plain(relevant is not None, graded, sample.k)
    return _hash(relevant is not None, graded, others, sample.answerable, sample.k)


@lru_cache(maxsize=1024)
def _plain(*facts: bool | int | None) -> int:
    """Return what `_rest` does where there are only relevant ids."""
    has_relevant, graded, k = facts
    return _hash(has_relevant, graded, _NO_OTHERS, True, k)


def _hash(*facts: object) -> int:
    try:
        data = orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a surrogate pair, which UTF-8 cannot encode
        data = repr(facts).encode("utf-8", "backslashreplace")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")
