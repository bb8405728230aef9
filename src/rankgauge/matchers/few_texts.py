"""
A few texts: what `cover` finds in the texts of one small sample, mostly in plain Python.

Numpy takes some microseconds for each call, and comparing texts takes 400 of them, however few there are. Here words
are in lists, and only texts that share some with a gold text become columns, for `aligned_pairs`. What is no small
sample of plain words is left to `common_runs`, here as None, which comes to the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankgauge.matchers.alignment import aligned_pairs
from rankgauge.matchers.spelling import UNSPACED, cleaned_texts, folded_texts
from rankgauge.matchers.word_runs import hashed_runs, plainly_written, words_of_prepared
from rankgauge.plugin.matching import Covers

__all__ = ["cover_few"]

_MOST = 1 << 15
"""Up to how many characters all texts of the sample have together."""

_LETTERS = bytes(code if code >= 0x80 or chr(code).isalpha() else 0x20 for code in range(256)).lower()
"""Small letters, and blanks for all that is no letter."""
_TELLING = b"0123456789_"
"""What may join words, or be in numbers that are written in several ways."""
_WORDS = re.compile(
    rb"[a-z0-9\x80-\xff]+(?:(?:_|[-/](?=[0-9])|(?<=[0-9])[-/]|(?<=[0-9])[.,:](?=[0-9]))[a-z0-9\x80-\xff]+)*"
).findall

_Words = list[bytes]


def cover_few(retrieved: Sequence[str], gold: Sequence[str], n: int, cutoff: float) -> Covers | None:
    """Return what `cover` does, for one sample; None if it is left to `common_runs`."""
    texts = [*gold, *retrieved]
    if n < 2 or not gold or sum(map(len, texts)) > _MOST:
        return None
    prepared = folded_texts(cleaned_texts(texts))
    whole = "\0".join(prepared)
    if UNSPACED in whole:
        return None
    parts = whole.encode("utf-8", "surrogatepass").split(b"\0")
    golds = [_Gold.of(part, n) for part in parts[: len(gold)]]
    if not all(each.words for each in golds):
        return None
    wanted = {word for each in golds for word in each.words}
    least = b"\1" * min(n, *(len(each.words) for each in golds))
    pairs = _Pairs(golds, n)
    for at, part in enumerate(parts[len(gold) :]):
        written, words = _words(part)
        in_gold = bytes(map(wanted.__contains__, words))
        if least in in_gold or _may_be_cut(in_gold, n):
            pairs.add(at, written, words)
    found = sorted([*pairs.whole, *pairs.aligned(prepared, cutoff)], key=lambda part: part[:2])
    pair, start, end = np.array(found, np.int64).reshape(-1, 3).T
    row, column = np.divmod(pair, len(gold))
    return Covers(row, column, start, end, np.array([each.size for each in golds], np.int64), len(retrieved))


def _words(part: bytes) -> tuple[_Words, _Words]:
    """Return the words of a prepared text, as they are written, and so that equal ones are equal."""
    if len(part.translate(None, _TELLING)) == len(part):  # several times as fast as to look for one of them
        words = part.translate(_LETTERS).split()
        return words, words
    written = _WORDS(part.lower())
    return written, [plainly_written(word) or word if word[0] <= 0x39 else word for word in written]


def _characters(words: _Words) -> int:
    """Return how many characters words have."""
    joined = b"".join(words)
    return len(joined) if joined.isascii() else len(joined.decode("utf-8", "surrogatepass"))


def _may_be_cut(in_gold: bytes, n: int) -> bool:
    """Return whether a text may share a run but for a piece of its first or its last word; *in_gold* are its words."""
    if len(in_gold) < n:
        return False
    return all(in_gold[1:n]) or all(in_gold[-n:-1]) or (len(in_gold) == n > 2 and all(in_gold[1 : n - 1]))


class _Gold(NamedTuple):
    """A gold text."""

    written: _Words
    words: _Words
    places: dict[tuple[bytes, ...], list[int]] | None  # of each run; None if it has to be there whole
    size: int  # how many characters all words have

    @classmethod
    def of(cls, part: bytes, n: int) -> _Gold:
        written, words = _words(part)
        size = _characters(written)
        if len(words) < 2 * n:
            return cls(written, words, None, size)
        places: defaultdict[tuple[bytes, ...], list[int]] = defaultdict(list)
        for at, run in enumerate(_runs(words, n)):
            places[run].append(at)
        return cls(written, words, places, size)


def _runs(words: _Words, n: int) -> Iterator[tuple[bytes, ...]]:
    """Return the *n* words from each place on."""
    return zip(*(words[at:] for at in range(n)), strict=False)


_Run = tuple[int, int, int]
"""Where a run begins in the gold text and in the retrieved one, and how many words it has."""


class _Pair(NamedTuple):
    """A gold text and a retrieved one that share runs."""

    row: int
    column: int
    runs: Sequence[_Run]
    in_order: bool
    needed: int = 0  # how many pieces of words have to be there
    is_bare: bool = False  # whether it is one run, at each end of which a text ends


class _Pairs:
    """The pairs of a sample that share something."""

    def __init__(self, golds: Sequence[_Gold], n: int) -> None:
        self._golds, self._n = golds, n
        self._pairs: list[_Pair] = []
        self._covered: list[set[int]] = [set() for _ in golds]  # words of each gold text that any text may cover
        self._spare = [0] * len(golds)  # how many characters cut words may add
        self.whole: list[tuple[int, int, int]] = []  # pairs whose gold text is there as it is: pair, start, end

    def add(self, row: int, written: _Words, words: _Words) -> None:
        """Look at one retrieved text."""
        n, edges = self._n, None
        runs = list(_runs(words, n))
        for column, gold in enumerate(self._golds):
            if gold.places is None:
                if _holds(words, gold.words):
                    self.whole.append((row * len(self._golds) + column, 0, gold.size))
                continue
            points = [(gold.places[run], at) for at, run in enumerate(runs) if run in gold.places]
            if points:
                self._covered[column].update(
                    place + step for places, _ in points for place in places for step in range(n)
                )
                joined, in_order = _joined_runs(points, n)
                found = [_Pair(row, column, joined, in_order, is_bare=_is_bare(joined, gold.words, words))]
            else:
                edges = list(self._edges(written)) if edges is None else edges
                found = [
                    _Pair(row, column, [(place, at, size)], in_order=True, needed=2 - sides.count(b""))
                    for at, size, *sides in edges
                    for place in _cut_places(gold, words[at : at + size], *sides)
                ]
                for pair in found:
                    ((place, _, size),) = pair.runs
                    self._covered[column].update(range(place, place + size))
            if found:
                self._spare[column] += _characters([written[0], written[-1]])
                self._pairs += found

    def _edges(self, written: _Words) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Yield where runs may lack a word, how many they have, and the letters before and behind, empty for any."""
        n, count = self._n, len(written)
        if count >= n:
            yield 1, n - 1, written[0][-1:], b""
            yield count - n, n - 1, b"", written[-1][:1]
        if count == n > 2:  # one word between two
            yield 1, n - 2, written[0][-1:], written[-1][:1]

    def aligned(self, prepared: Sequence[str], cutoff: float) -> Iterator[tuple[int, int, int]]:
        """Yield what pairs have that nothing contradicts: pair, start and end, runs first."""
        able = [self._can_reach(column, cutoff) for column in range(len(self._golds))]
        pairs: list[_Pair] = []
        for pair in self._pairs:
            if able[pair.column]:
                if pair.is_bare:
                    yield self._part(pair)
                else:
                    pairs.append(pair)
        if not pairs:
            return
        n_gold = len(self._golds)
        texts = sorted({pair.column for pair in pairs} | {n_gold + pair.row for pair in pairs})
        stream = words_of_prepared([prepared[text] for text in texts])
        bounds = dict(zip(texts, zip(stream.first.tolist(), stream.first[1:].tolist(), strict=False), strict=False))
        runs: list[_Run] = []
        rows: list[tuple[int, ...]] = []
        for row, column, own, in_order, needed, _ in pairs:
            gold, other, begin = bounds[column], bounds[n_gold + row], len(runs)
            runs += [(gold[0] + i, other[0] + j, size) for i, j, size in own]
            rows.append((row * n_gold + column, *gold, *other, begin, len(runs), in_order, needed))
        reach = np.full(len(stream.words), self._n)
        hashed = hashed_runs(stream.words, self._n)
        kept, pieces = aligned_pairs(stream, hashed, reach, np.array(rows), np.array(runs, np.int64).reshape(-1, 3))
        ends = stream.ends.tolist()
        for pair, word, count in kept.tolist():
            base = ends[bounds[pair % n_gold][0]]
            yield pair, ends[word] - base, ends[word + count] - base
        for pair, word, size, begins in pieces.tolist():
            start = (ends[word] if begins else ends[word + 1] - size) - ends[bounds[pair % n_gold][0]]
            yield pair, start, start + size

    def _part(self, pair: _Pair) -> tuple[int, int, int]:
        """Return the only run of a pair."""
        ((first, _, count),) = pair.runs
        written = self._golds[pair.column].written
        start = _characters(written[:first])
        return pair.row * len(self._golds) + pair.column, start, start + _characters(written[first : first + count])

    def _can_reach(self, column: int, cutoff: float) -> bool:
        """Return whether all texts together could cover enough of a gold text."""
        gold = self._golds[column]
        most = _characters([gold.written[at] for at in self._covered[column]]) + self._spare[column]
        return most >= cutoff * gold.size


def _holds(words: _Words, gold: _Words) -> bool:
    """Return whether a text has all words of a gold text in a row."""
    size = len(gold)
    return any(word == gold[0] and words[at : at + size] == gold for at, word in enumerate(words))


def _joined_runs(points: Sequence[tuple[list[int], int]], n: int) -> tuple[list[_Run], bool]:
    """Return the runs that points are on, and whether all are known, follow each other and overlap in neither text."""
    runs: list[_Run] = []
    for places, j in points:
        if len(places) > 1:
            return [], False
        (i,) = places
        if runs:
            first, other, size = runs[-1]
            if i - first == j - other == size - n + 1:
                runs[-1] = first, other, size + 1
                continue
            if i < first + size or j < other + size:
                return [], False
        runs.append((i, j, n))
    return runs, True


def _is_bare(runs: Sequence[_Run], gold: _Words, words: _Words) -> bool:
    """Return whether there is one run, and one of the two texts ends at each of its ends: nothing can contradict."""
    if len(runs) != 1:
        return False
    ((i, j, size),) = runs
    return (i == 0 or j == 0) and (i + size == len(gold) or j + size == len(words))


def _cut_places(gold: _Gold, run: _Words, before: bytes, behind: bytes) -> Iterator[int]:
    """Yield where a gold text has a run, with words beside it that end and begin with some letters."""
    size, words, written = len(run), gold.words, gold.written
    for place in range(len(before), len(words) - size + 1 - len(behind)):
        if words[place] == run[0] and words[place : place + size] == run:
            if before and not written[place - 1].endswith(before):
                continue
            if behind and not written[place + size].startswith(behind):
                continue
            yield place
