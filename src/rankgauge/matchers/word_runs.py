"""
Runs of words: the words of many texts as one array, which runs texts share, and the best of them in the same order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.words import spaced_words

__all__ = ["Layout", "Run", "Shared", "WordStream", "best_runs", "hashed_runs", "read_words", "shared_runs"]


Integers = NDArray[np.int64]
_BLANK = 32
_LOWER = bytes(
    code if code >= 0x80 else ord(chr(code).lower()) if chr(code).isalnum() else _BLANK for code in range(256)
)
_IS_DIGIT = np.array([chr(code) in "0123456789" for code in range(256)])
_WINDOW = np.dtype("<u8")
_FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SALT = np.uint64(0xD1B54A32D192ED03)
_HALF, _ONE, _LAST = np.uint64(32), np.uint64(1), np.uint64(63)
_SPARSE = 4
"""How many places the table has for each run of words in gold texts, at least."""


class WordStream(NamedTuple):
    """The words of many texts, one after the other."""

    words: NDArray[np.uint64]  # a hash of each
    text: Integers  # whose each is
    is_number: NDArray[np.bool_]  # whether each begins with a digit
    ends: Integers  # how many characters all words before each have; one more for the end
    first: Integers  # the place of each text's first word; one more for the end
    data: bytes  # the words themselves
    starts: Integers  # where each begins in these
    stops: Integers  # and where it ends

    def spelled(self, at: int) -> str:
        """Return a word."""
        return self.data[self.starts[at] : self.stops[at]].decode("utf-8", "surrogatepass")

    def counts(self) -> Integers:
        """Return how many words each text has."""
        return np.diff(self.first)

    def sizes(self) -> Integers:
        """Return how many characters the words of each text have."""
        return np.diff(self.ends[self.first])


def hashed_runs(words: NDArray[np.uint64], n: int) -> NDArray[np.uint64]:
    """Return a hash of the *n* words from each place on."""
    count = max(len(words) - n + 1, 0)
    runs = words[:count].copy()
    for at in range(1, n):
        runs *= _SPREAD
        runs += words[at : at + count]
    return runs


def read_words(texts: Sequence[str]) -> WordStream:
    """Return the words of texts."""
    parts = [text.encode("utf-8", "surrogatepass") for text in spaced_words(texts)]
    data = b" ".join([b"", *parts, b" " * 16]).translate(_LOWER)
    codes = np.frombuffer(data, np.uint8)
    in_word = codes != _BLANK
    edges = np.flatnonzero(in_word[1:] != in_word[:-1])
    edges += 1
    starts, stops = edges[::2], edges[1::2]
    sizes = stops - starts
    words = _eight_bytes(data, starts)
    words &= _FIRST_BYTES.take(sizes, mode="clip")
    for end in range(8, int(sizes.max(initial=0)), 8):  # the next eight bytes, of words that have so many
        longer = np.flatnonzero(sizes > end)
        more = _eight_bytes(data, starts[longer] + end) & _FIRST_BYTES.take(sizes[longer] - end, mode="clip")
        words[longer] = (words[longer] * _SALT) ^ (more + _SPREAD)
    words *= _SPREAD
    words ^= words >> _HALF
    if not data.isascii():  # characters are counted, not bytes
        later = np.zeros(len(codes) + 1, np.int64)
        np.cumsum((codes & 0xC0) == 0x80, out=later[1:])
        sizes -= later[stops] - later[starts]
    ends = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    lengths = np.fromiter(map(len, parts), np.int64, len(parts))
    first = np.searchsorted(starts, np.concatenate([[1], 1 + np.cumsum(lengths + 1)]))
    text = np.repeat(np.arange(len(texts)), np.diff(first))
    return WordStream(words, text, _IS_DIGIT.take(codes[starts]), ends, first, data, starts, stops)


def _eight_bytes(data: bytes, starts: Integers) -> NDArray[np.uint64]:
    """Return the eight bytes from each place on, put together from aligned ones, which takes half the time."""
    aligned = np.frombuffer(data, _WINDOW, len(data) >> 3)
    place = starts >> 3
    shift = ((starts & 7) << 3).view(np.uint64)
    low = aligned.take(place) >> shift
    high = aligned.take(place + 1) << _ONE  # by two steps, since a shift by 64 is undefined
    high <<= _LAST - shift
    low |= high
    return low


class Layout(NamedTuple):
    """Which text is whose: the gold texts of a sample, then its retrieved ones, then those of the next sample."""

    sample: Integers  # of each text
    is_gold: NDArray[np.bool_]
    place: Integers  # of each text among those of its sample
    base: Integers  # of each retrieved text: the number of its first pair
    golds: Integers  # how many gold texts each sample has

    @classmethod
    def of(cls, retrieved: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> Layout:
        """Return the layout of some samples' texts; pairs are numbered as in blocks of (retrieved, gold)."""
        golds = np.fromiter(map(len, gold), np.int64, len(gold))
        others = np.fromiter(map(len, retrieved), np.int64, len(retrieved))
        both, pairs = golds + others, golds * others
        sample = np.repeat(np.arange(len(gold)), both)
        place = np.arange(len(sample)) - (np.cumsum(both) - both)[sample]
        base = (np.cumsum(pairs) - pairs)[sample] + (place - golds[sample]) * golds[sample]
        return cls(sample, place < golds[sample], place, base, golds)


class Shared(NamedTuple):
    """Where runs of words of retrieved texts stand in gold texts of their sample, in order of the retrieved texts."""

    gold: Integers
    other: Integers
    repeated: Integers  # places in retrieved texts whose run of words may stand in gold texts more than once
    again: Integers  # places in gold texts where these runs stand
    runs: NDArray[np.uint64]  # a hash of the run of words from each place on


def shared_runs(stream: WordStream, layout: Layout, n: int) -> Shared:
    """Return which runs of *n* words are shared."""
    runs = hashed_runs(stream.words, n)
    text = stream.text[: len(runs)]
    runs ^= (layout.sample.astype(np.uint64) * _SALT)[text]
    runs *= _SPREAD
    inside = text == stream.text[n - 1 :][: len(runs)]
    of_gold = layout.is_gold[text]
    gold = np.flatnonzero(inside & of_gold)
    bits = max((_SPARSE * len(gold)).bit_length(), 10)
    slots = (runs >> np.uint64(64 - bits)).view(np.int64)
    table = np.full(1 << bits, -1, np.int32)
    table[slots[gold]] = gold
    holder = table.take(slots)
    there = np.flatnonzero((holder >= 0) & inside & ~of_gold)
    holder = holder[there]
    same = runs[holder] == runs[there]
    hidden = gold[table[slots[gold]] != gold]  # whose place in the table another one took
    repeated = again = np.empty(0, np.int64)
    if len(hidden):
        has_hidden = np.zeros(1 << bits, np.bool_)
        has_hidden[slots[hidden]] = True
        maybe = there[has_hidden[slots[there]]]
        repeated = maybe[np.isin(runs[maybe], runs[hidden])]
        again = gold[np.isin(runs[gold], runs[repeated])]
    return Shared(holder[same].astype(np.int64), there[same], repeated, again, runs)


Run = tuple[int, int, int]
"""Where a run begins in the first text and in the second, and how long it is; all in words."""

_POINTS = 8
"""How many shared places there may be for each word, before repetitions are paired in their order."""


def best_runs(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    n: int,
    ends: Sequence[int],
    *,
    without: Container[tuple[int, int]] = (),
) -> list[Run]:
    """
    Return runs of at least *n* words that both texts have in the same order, with the most characters in all.

    Texts that repeat themselves very often have too many places in common to try them all: there, the first occurrence
    in one text is paired with the first one in the other, the second with the second, and so on. That keeps the time
    linear but for a logarithm.

    Args:
        first: For each place of the first text, something that is equal where the *n* words from there on are.

        second: The same for the second text.

        n: How many words a run has at least.

        ends: How many characters the first text has before each word, and at its end.

        without: Places of both texts at which no run may go on.

    Returns:
        Runs that overlap in neither text, in order.
    """
    points = sorted(point for point in _points(first, second) if point not in without)
    place = {point: at for at, point in enumerate(points)}
    values: list[int] = []
    before: list[int] = []  # the place of the point before on the best way, -1 for none
    keys, best, holders = [-1], [0], [-1]  # the most characters of ways that end at or before a word of the second text
    closed = 0
    for i, j in points:
        while points[closed][0] + n <= i:
            _offer(keys, best, holders, points[closed][1] + n, values[closed], closed)
            closed += 1
        at = bisect_right(keys, j) - 1
        value, source = best[at] + ends[i + n] - ends[i], holders[at]
        neighbour = place.get((i - 1, j - 1), -1)
        if neighbour >= 0 and (longer := values[neighbour] + ends[i + n] - ends[i + n - 1]) >= value:
            value, source = longer, neighbour
        values.append(value)
        before.append(source)
    return _traced(points, before, max(range(len(points)), key=values.__getitem__, default=-1), n)


def _points(first: Sequence[Hashable], second: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield the places that both texts share."""
    where: defaultdict[Hashable, list[int]] = defaultdict(list)
    for j, words in enumerate(second):
        where[words].append(j)
    shared = [(i, where[words]) for i, words in enumerate(first) if words in where]
    if sum(len(places) for _, places in shared) <= _POINTS * (len(first) + len(second)):
        for i, places in shared:
            yield from ((i, j) for j in places)
        return
    times: Counter[Hashable] = Counter()
    for i, places in shared:
        time = times[first[i]]
        times[first[i]] += 1
        if time < len(places):
            yield i, places[time]


def _offer(keys: list[int], best: list[int], holders: list[int], key: int, value: int, holder: int) -> None:
    """Add a way that ends at *key*, unless another one that ends there or before is as good."""
    at = bisect_right(keys, key)
    if best[at - 1] >= value:
        return
    end = at
    while end < len(keys) and best[end] <= value:
        end += 1
    keys[at:end], best[at:end], holders[at:end] = [key], [value], [holder]


def _traced(points: Sequence[tuple[int, int]], before: Sequence[int], last: int, n: int) -> list[Run]:
    """Return the runs of the way that ends at a point, the last one."""
    runs: list[Run] = []
    while last >= 0:
        i, j = points[last]
        length = n
        while before[last] >= 0 and points[before[last]] == (i - 1, j - 1):
            i, j, length, last = i - 1, j - 1, length + 1, before[last]
        runs.append((i, j, length))
        last = before[last]
    return runs[::-1]
