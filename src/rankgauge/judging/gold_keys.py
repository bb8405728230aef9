"""
Gold keys: hashes of what samples are judged against, by which results are known to have judged the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
import orjson

from rankgauge.base.frozen import read_only
from rankgauge.columns import Slices, Words, keys_of_gold
from rankgauge.judging.ranking import JudgedBlock
from rankgauge.samples import Expected, Sample
from rankgauge.samples.sample_values import InvalidError
from rankgauge.samples.validity import read_moment

__all__ = ["GoldKeys"]

_EMPTY: Mapping[str, float] = {}
_NO_KEYS: Words = read_only(np.empty(0, dtype=np.uint64))
_LATER = Expected._fields.index("faults")
"""From where on attributes of ground truth are hashed only if they are there, as they were added one by one."""
_NO_OTHERS = [None] * (_LATER - 2)


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
        if len(known) == 1:
            (k,) = known
            rest = np.full(len(block.ks), known[k], dtype=np.uint64)
            rest[list(block.graded)] = _plain(True, True, k)
        else:
            rest = np.array(list(map(known.__getitem__, block.ks)), dtype=np.uint64)
            rest[list(block.graded)] = [_plain(True, True, block.ks[place]) for place in block.graded]
        for place, expected in block.more.items():
            rest[place] = _rest(Sample(block.ids[place], expected=expected, k=block.ks[place]))
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
        return np.concatenate([_NO_KEYS, *self._done]) if self._done else _NO_KEYS


def _rest(sample: Sample) -> int:
    """Return a hash of everything else that a sample is judged by."""
    expected = sample.expected
    relevant, graded, *rest = expected[:_LATER]
    others: list[object] = [*rest, *(each for each in expected[_LATER:-1] if each is not None)]
    if expected.others is not None:
        others.append({name: gold.raw for name, gold in expected.others.items()})
    asked = (sample.metadata or {}).get("asked_at")
    if sample.answerable and others == _NO_OTHERS and asked is None:
        return _plain(relevant is not None, graded, sample.k)
    when = () if asked is None else (_when(asked),)
    return _hash(relevant is not None, graded, others, sample.answerable, sample.k, *when)


def _when(asked: object) -> float | str:
    """Return when a question was asked, equal for all ways to write it; as written if a `Sample` says no time."""
    try:
        return read_moment(asked, "").timestamp()
    except InvalidError:
        return str(asked)


@lru_cache(maxsize=1024)
def _plain(*facts: bool | int | None) -> int:
    """Return what `_rest` does if there are only relevant ids."""
    has_relevant, graded, k = facts
    return _hash(has_relevant, graded, _NO_OTHERS, True, k)


def _hash(*facts: object) -> int:
    try:
        data = orjson.dumps(facts, default=_in_json, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a surrogate pair, which UTF-8 cannot encode
        data = repr(facts).encode("utf-8", "backslashreplace")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _in_json(value: Any) -> object:  # noqa: ANN401  # whatever ground truth holds
    """Return a named tuple or a mapping as JSON has it, so that dates in it are the texts that a JSON file has."""
    is_mapping = not isinstance(value, tuple) and isinstance(value, Mapping)  # most are tuples, and to ask that is fast
    return dict(value) if is_mapping else tuple(value)
