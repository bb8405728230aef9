"""
Other facts: runs of words that two texts share only because both say the like of different numbers.

Reports say the same sentence every year. Between the runs that such sentences share stand numbers that differ; where
there are at least as many of these as of numbers that agree inside the runs, the runs beside them are no evidence that
one text holds the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankgauge.matchers.word_runs import Integers, Run, WordStream, best_runs, hashed_runs

__all__ = ["Pairs", "Runs", "without_other_facts"]

_TRIES = 8
"""How often runs are chosen again without those beside numbers that differ."""


class Pairs(NamedTuple):
    """All pairs of texts, by their numbers."""

    gold: Integers  # the gold text of each
    other: Integers  # the retrieved one
    n: Integers  # how many words a run of theirs has at least


class Runs(NamedTuple):
    """Runs of words that the texts of pairs have in common, at places of the stream."""

    pair: Integers
    gold: Integers
    other: Integers
    length: Integers


class _Gaps(NamedTuple):
    """What stands between two runs, or beside the first and the last one, in both texts; ends are exclusive."""

    gold: tuple[Integers, Integers]
    other: tuple[Integers, Integers]


def without_other_facts(stream: WordStream, pairs: Pairs, runs: Runs) -> Runs:
    """Return the runs in order, without those of other facts."""
    order = np.lexsort((runs.gold, runs.pair))
    runs = Runs(*(part[order] for part in runs))
    is_first = np.ones(len(order), np.bool_)
    np.not_equal(runs.pair[1:], runs.pair[:-1], out=is_first[1:])
    numbers = np.concatenate([[0], np.cumsum(stream.is_number)])
    doubtful = np.zeros(len(pairs.n), np.bool_)
    for gaps in (_before(stream, pairs, runs, is_first), _after(stream, pairs, runs)):
        both = [numbers[end] > numbers[begin] for begin, end in gaps]
        doubtful[runs.pair[both[0] & both[1]]] = True
    suspects = np.flatnonzero(doubtful)
    if not len(suspects):
        return runs
    kept = ~doubtful[runs.pair]
    parts = [Runs(*(part[kept] for part in runs))]
    begins = np.searchsorted(runs.pair, suspects)
    for at, begin, end in zip(
        suspects.tolist(), begins.tolist(), np.searchsorted(runs.pair, suspects, "right").tolist(), strict=True
    ):
        chosen = list(zip(*(part[begin:end].tolist() for part in runs[1:]), strict=True))
        if agreed := _Suspect(stream, pairs, at).agreed(chosen):
            parts.append(Runs(np.full(len(agreed), at), *np.array(agreed, dtype=np.int64).T))
    return Runs(*map(np.concatenate, zip(*parts, strict=True)))


def _before(stream: WordStream, pairs: Pairs, runs: Runs, is_first: np.ndarray) -> _Gaps:
    """Return the gap before each run."""
    ends = [np.concatenate([[0], (side + runs.length)[:-1]])[: len(side)] for side in (runs.gold, runs.other)]
    own, theirs = stream.first[pairs.gold[runs.pair]], stream.first[pairs.other[runs.pair]]
    width = np.minimum(runs.gold - own, runs.other - theirs - 1).clip(0)  # the first word may be cut
    gold = np.where(is_first, runs.gold - width, ends[0])
    return _Gaps((gold, runs.gold), (np.where(is_first, runs.other - width, ends[1]), runs.other))


def _after(stream: WordStream, pairs: Pairs, runs: Runs) -> _Gaps:
    """Return the gap behind each run, as if it were the last one."""
    gold, other = runs.gold + runs.length, runs.other + runs.length
    own, theirs = stream.first[pairs.gold[runs.pair] + 1], stream.first[pairs.other[runs.pair] + 1]
    width = np.minimum(own - gold, theirs - other - 1).clip(0)
    return _Gaps((gold, gold + width), (other, other + width))


class _Suspect:
    """One pair, in whose gaps numbers stand on both sides."""

    def __init__(self, stream: WordStream, pairs: Pairs, at: int) -> None:
        self._stream = stream
        self._n = int(pairs.n[at])
        self._gold, self._other = (stream.first[side[at] : side[at] + 2].tolist() for side in (pairs.gold, pairs.other))

    def agreed(self, runs: Sequence[Run]) -> Sequence[Run]:
        """Return runs beside which fewer numbers differ than agree inside them; none where there are none."""
        (own, own_end), (theirs, _) = self._gold, self._other
        first, second = (
            hashed_runs(self._stream.words[begin:end], self._n).tolist() for begin, end in (self._gold, self._other)
        )
        ends = self._stream.ends[own : own_end + 1].tolist()
        without: set[tuple[int, int]] = set()
        for _ in range(_TRIES):
            wrong = list(self._differing(runs))
            agreeing = sum(int(self._stream.is_number[i : i + length].sum()) for i, _, length in runs)
            if sum(count for count, _ in wrong) < max(agreeing, 1):
                return runs
            for i, j, length in (run for _, beside in wrong for run in beside):
                without.update((i - own + step, j - theirs + step) for step in range(length - self._n + 1))
            runs = [
                (i + own, j + theirs, size) for i, j, size in best_runs(first, second, self._n, ends, without=without)
            ]
        return ()

    def _differing(self, runs: Sequence[Run]) -> Iterator[tuple[int, Sequence[Run]]]:
        """Yield how many numbers differ in each gap, and the runs beside it."""
        (own, own_end), (theirs, their_end) = self._gold, self._other
        for at, (i, j, length) in enumerate(runs):
            if at:
                before, end, size = runs[at - 1]
                yield from self._numbers(before + size, i, end + size, j, runs[at - 1 : at + 1])
            else:
                width = max(min(i - own, j - theirs - 1), 0)
                yield from self._numbers(i - width, i, j - width, j, runs[:1])
            if at == len(runs) - 1:
                i, j = i + length, j + length  # noqa: PLW2901  # where the last run ends
                width = max(min(own_end - i, their_end - j - 1), 0)
                yield from self._numbers(i, i + width, j, j + width, runs[-1:])

    def _numbers(
        self, begin: int, end: int, other: int, other_end: int, beside: Sequence[Run]
    ) -> Iterator[tuple[int, Sequence[Run]]]:
        is_number, words = self._stream.is_number, self._stream.words
        theirs = set(words[other:other_end][is_number[other:other_end]].tolist())
        own = words[begin:end][is_number[begin:end]].tolist()
        if theirs and (differing := sum(word not in theirs for word in own)):
            yield differing, beside
